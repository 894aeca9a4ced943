// Made from openapi.json by "npm run generate"; not edited by hand.
export interface paths {
    "/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Alert targets */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["List_AlertView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Make an alert target
         * @description Fields as in the configuration file; `url` and `secret` go into the vault.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Record<string, never>;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedAlert"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The newest deliveries */
        get: {
            parameters: {
                query?: {
                    /** @description At most so many, of the 200 that are kept. */
                    limit?: number | null;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["List_DeliveryView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove an alert target */
        delete: {
            parameters: {
                query?: {
                    /** @description Refuse if the object was changed since. */
                    revision?: number;
                };
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedAlert"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /**
         * Change an alert target
         * @description A JSON merge patch over the target; `revision` names the state it was made from. Without `url` and `secret` the
         *     stored ones stay; `"secret": null` ends signing.
         */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Record<string, never>;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedAlert"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/alerts/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a removed alert target back, with its address and secret */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedAlert"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/alerts/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test, once, and say what became of it; also to a target that is switched off */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Delivery"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Apply a configuration file (YAML or JSON): all or nothing */
        post: {
            parameters: {
                query?: {
                    /** @description Only say what would change. */
                    dry_run?: boolean;
                    /** @description Also remove what the file does not list. */
                    prune?: boolean;
                    /** @description Make a renamed object's listed name anew. */
                    allow_recreate?: boolean;
                    /** @description Refuse if the configuration is at another revision. */
                    expect_revision?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/yaml": string;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Applied"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/costs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was spent, what is left, and whether it was charged as said
         * @description Amounts are list prices as they were stamped on attempts; those of different currencies are never added.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Requests that started at this time or later; it is set back to a whole quarter of an hour. */
                    from?: string;
                    /** @description Requests that started before this time; absent: now. */
                    to?: string;
                    /** @description `1h`, `24h`, `7d` or `30d` before `to`, where `from` is absent. */
                    window?: "1h" | "24h" | "7d" | "30d";
                    /** @description By what spending is told. */
                    by?: "model" | "key" | "group" | "upstream";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Costs"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/costs/elsewhere": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the traffic would have cost elsewhere
         * @description The traffic of each group at each of its members alone, at list prices and multipliers of now.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Requests that started at this time or later; it is set back to a whole quarter of an hour. */
                    from?: string;
                    /** @description Requests that started before this time; absent: now. */
                    to?: string;
                    /** @description `1h`, `24h`, `7d` or `30d` before `to`, where `from` is absent. */
                    window?: "1h" | "24h" | "7d" | "30d";
                    /** @description By what spending is told. */
                    by?: "model" | "key" | "group" | "upstream";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Elsewhere"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/costs/{upstream}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether an upstream charged what it said
         * @description Over the last hour, day and week: its own figures against our own records.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    upstream: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CostsView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/costs/{upstream}/charges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Single charges against single requests
         * @description One to one: by the request id that both know, else by model, tokens and time. A charge without a request is traffic
         *     from elsewhere on the same key or account.
         */
        get: {
            parameters: {
                query?: {
                    /** @description `1h`, `24h` or `7d`, until now. */
                    window?: "1h" | "24h" | "7d";
                    /** @description `all`, `matched` (charges with their request), `differing`, `ours` (requests without a charge) or `theirs` (charges without a request). */
                    which?: "all" | "matched" | "differing" | "ours" | "theirs";
                    /** @description Which page, from 1. */
                    page?: number;
                    /** @description Rows of a page; 50, at most 200. */
                    per_page?: number;
                };
                header?: never;
                path: {
                    upstream: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChargesView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/costs/{upstream}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All that a verdict rests on, as a file
         * @description Snapshots, single charges and requests with the ids of both sides, the prices used, and the verdict. Its checksum
         *     stands in the file and in the header `x-headgate-checksum`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description `1h`, `24h` or `7d`, until now. */
                    window?: "1h" | "24h" | "7d";
                    /** @description `json` or `csv`. */
                    format?: "json" | "csv";
                };
                header?: never;
                path: {
                    upstream: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": string;
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/costs/{upstream}/figures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What an upstream said of itself over a time
         * @description Pairs of neighbouring snapshots with our own calls in between: what comparisons are made from.
         */
        get: {
            parameters: {
                query?: {
                    /** @description `1h`, `24h`, `7d` or `30d`. */
                    window?: "1h" | "24h" | "7d" | "30d";
                    /** @description Which 500 pairs, from 1: the newest. */
                    page?: number;
                };
                header?: never;
                path: {
                    upstream: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CostFigures"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/costs/{upstream}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tokens reported against tokens that passed through
         * @description Output alone, by model. Models of OpenAI's families are counted with their vocabulary, others estimated by length.
         */
        get: {
            parameters: {
                query?: {
                    /** @description `1h`, `24h` or `7d`, until now. */
                    window?: "1h" | "24h" | "7d";
                };
                header?: never;
                path: {
                    upstream: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TokensView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Live events: health, requests, revisions */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": components["schemas"]["Event"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Explain a route */
        get: {
            parameters: {
                query: {
                    /** @description The access key that asks (its policy counts); or a group. */
                    key?: number;
                    /** @description The group, when there is no key. */
                    group?: number;
                    /** @description The model asked for. */
                    model: string;
                    /** @description What the client speaks. */
                    protocol: components["schemas"]["Protocol"];
                    /** @description Whether a stream is asked for. */
                    stream?: boolean;
                    /** @description Features used, separated by commas: tools, images, documents, structured_output, reasoning. */
                    features?: string;
                    /** @description Estimated prompt in tokens. */
                    input?: number;
                    /** @description The region asked for. */
                    region?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Explanation"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The configuration as a file, without any secret */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/yaml": string;
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Groups */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["List_GroupView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Make a group
         * @description The body is the object as the configuration file spells it: upstreams by name.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Record<string, never>;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One group */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["GroupView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Remove a group that no key uses */
        delete: {
            parameters: {
                query?: {
                    /** @description Refuse if the object was changed since. */
                    revision?: number;
                };
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /**
         * Change a group
         * @description A JSON merge patch over the object as the configuration file spells it; `revision` names the state it was made from.
         */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Record<string, never>;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/groups/{id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The members of a group, with their state */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["List_MemberView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        /**
         * Add a member, or change one
         * @description `upstream` is its name; `revision` that of the group.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Record<string, never>;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/groups/{id}/members/{upstream}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a member */
        delete: {
            parameters: {
                query?: {
                    /** @description Refuse if the object was changed since. */
                    revision?: number;
                };
                header?: never;
                path: {
                    id: number;
                    upstream: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/groups/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a removed group back, with those of its members that are still there */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/groups/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Test a group with a streamed question that takes the way of every request, and is recorded as one */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TestBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": components["schemas"]["Step"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/groups/{id}/whatif": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay recorded traffic with one group changed
         * @description The body is the JSON merge patch that would be sent to change it.
         */
        post: {
            parameters: {
                query?: {
                    /** @description From when; a day before `until` if absent. */
                    since?: string;
                    /** @description Until when; now if absent. */
                    until?: string;
                    /** @description What the file does not list is left out. */
                    prune?: boolean;
                };
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Record<string, never>;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Comparison"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Access keys */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["List_KeyView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Make an access key
         * @description The body is the object as the configuration file spells it; without a `secret` one is made and told in this answer
         *     alone.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Record<string, never>;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * When each access key was last used, and by which client
         * @description Keys without a request on record are left out.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["List_LastUse"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One access key */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["KeyView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Remove an access key */
        delete: {
            parameters: {
                query?: {
                    /** @description Refuse if the object was changed since. */
                    revision?: number;
                };
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /**
         * Change an access key
         * @description A JSON merge patch; `revision` names the state it was made from.
         */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Record<string, never>;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/keys/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a removed access key back, with its secret */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give a key a new secret; the old one stops working at once */
        post: {
            parameters: {
                query?: {
                    /** @description Refuse if the object was changed since. */
                    revision?: number;
                };
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The newest lines of the log, oldest first */
        get: {
            parameters: {
                query?: {
                    /** @description Only lines after this number. */
                    after?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["List_LogLine"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Figures as text, in the form of OpenMetrics */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/openmetrics-text": string;
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/monitors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Monitors */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["List_MonitorView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        /** Make monitors, one for each model */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewMonitors"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Changed"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/monitors/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a monitor */
        delete: {
            parameters: {
                query?: {
                    /** @description Refuse if the object was changed since. */
                    revision?: number;
                };
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Changed"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /**
         * Change a monitor
         * @description A JSON merge patch over the monitor; `revision` names the state it was made from.
         */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Record<string, never>;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Changed"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/monitors/{id}/probe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Probe now */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ProbeRecord"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/monitors/{id}/probes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The newest probes of a monitor */
        get: {
            parameters: {
                query?: {
                    /** @description At most so many. */
                    limit?: number | null;
                };
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["List_ProbeRecord"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/monitors/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a removed monitor back, with its probes */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Changed"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Everything at a glance */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Overview"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/overview/series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The last 24 hours in quarters of an hour */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Series"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/paused": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Refuse new requests for a while, or take them again */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Pause"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Pause"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The prices in force */
        get: {
            parameters: {
                query?: {
                    /** @description Part of the list's name for a model. */
                    q?: string;
                    /** @description A model as it is sent to an upstream: its price is looked for under the names it may go by. */
                    model?: string;
                    /** @description At this upstream, for own prices that hold there only. */
                    upstream?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PricesView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/prices/overrides": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Set an own price */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Override"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Rule"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/prices/overrides/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change an own price
         * @description What is recorded already keeps its cost until it is priced anew.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Override"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Rule"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        post?: never;
        /** Remove an own price */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/prices/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fetch the list now
         * @description When that fails the list from before stays in force, and `state` says why.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PricesView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/prices/reprice": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Price records anew
         * @description By the prices now in force; the action is written down. Otherwise a record keeps the cost it was stamped with.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Range"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Repricing"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Requests, newest first */
        get: {
            parameters: {
                query?: {
                    /** @description Started at this time or later (RFC 3339). */
                    since?: string;
                    /** @description Started before this time. */
                    until?: string;
                    /** @description Group id. */
                    group?: number;
                    /** @description Key id. */
                    key?: number;
                    /** @description Any attempt at this upstream. */
                    upstream?: number;
                    /** @description Exactly this model. */
                    model?: string;
                    /** @description Protocol of the client. */
                    protocol?: components["schemas"]["Protocol"];
                    /** @description Client program. */
                    client?: string;
                    /** @description direct_success, failover_success, failed, partial, canceled, client_error, ok or fail. */
                    status?: string;
                    /** @description Error kind, or its beginning. */
                    error_kind?: string;
                    /** @description Whose fault. */
                    error_source?: components["schemas"]["ErrorSource"];
                    /** @description Streams only, or the others only. */
                    stream?: boolean;
                    /** @description More than one attempt. */
                    retried?: boolean;
                    /** @description Took so many milliseconds or longer. */
                    slow_ms?: number;
                    /** @description Request id, or its beginning. */
                    id?: string;
                    /** @description Beginning of the id, or part of address or user agent. */
                    q?: string;
                    /**
                     * @description Priced in full, or charged for and not; this and what follows is asked of the attempts at the upstream, if one is
                     *     named.
                     */
                    priced?: boolean;
                    /**
                     * @description Whose tokens the upstream reported, are estimated by what passed through, or are unknown; or whose output was
                     *     both reported and counted here.
                     */
                    tokens?: "reported" | "estimated" | "unknown" | "compared";
                    /** @description Ended later than this. Without `since` a day before it is looked at. */
                    ended_after?: string;
                    /** @description Ended at this time or earlier. */
                    ended_by?: string;
                    /** @description That asked for no model, showed no known key, or belong to no group. */
                    without?: "model" | "key" | "group";
                    /** @description What `next` of the page before said. */
                    cursor?: string;
                    /** @description Page number from 1, with the total; instead of a cursor. */
                    page?: number;
                    /** @description Rows of a page (1–500). */
                    per_page?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["List_Item"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/requests/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Requests that pass a filter as a file, newest first, at most 200,000 */
        get: {
            parameters: {
                query?: {
                    /** @description Started at this time or later (RFC 3339). */
                    since?: string;
                    /** @description Started before this time. */
                    until?: string;
                    /** @description Group id. */
                    group?: number;
                    /** @description Key id. */
                    key?: number;
                    /** @description Any attempt at this upstream. */
                    upstream?: number;
                    /** @description Exactly this model. */
                    model?: string;
                    /** @description Protocol of the client. */
                    protocol?: components["schemas"]["Protocol"];
                    /** @description Client program. */
                    client?: string;
                    /** @description direct_success, failover_success, failed, partial, canceled, client_error, ok or fail. */
                    status?: string;
                    /** @description Error kind, or its beginning. */
                    error_kind?: string;
                    /** @description Whose fault. */
                    error_source?: components["schemas"]["ErrorSource"];
                    /** @description Streams only, or the others only. */
                    stream?: boolean;
                    /** @description More than one attempt. */
                    retried?: boolean;
                    /** @description Took so many milliseconds or longer. */
                    slow_ms?: number;
                    /** @description Request id, or its beginning. */
                    id?: string;
                    /** @description Beginning of the id, or part of address or user agent. */
                    q?: string;
                    /**
                     * @description Priced in full, or charged for and not; this and what follows is asked of the attempts at the upstream, if one is
                     *     named.
                     */
                    priced?: boolean;
                    /**
                     * @description Whose tokens the upstream reported, are estimated by what passed through, or are unknown; or whose output was
                     *     both reported and counted here.
                     */
                    tokens?: "reported" | "estimated" | "unknown" | "compared";
                    /** @description Ended later than this. Without `since` a day before it is looked at. */
                    ended_after?: string;
                    /** @description Ended at this time or earlier. */
                    ended_by?: string;
                    /** @description That asked for no model, showed no known key, or belong to no group. */
                    without?: "model" | "key" | "group";
                    /** @description `csv` or `json` (one object a line). */
                    format?: "csv" | "json";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/csv": string;
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/requests/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Values to filter by */
        get: {
            parameters: {
                query?: {
                    /** @description Started at this time or later (RFC 3339). */
                    since?: string;
                    /** @description Started before this time. */
                    until?: string;
                    /** @description Group id. */
                    group?: number;
                    /** @description Key id. */
                    key?: number;
                    /** @description Any attempt at this upstream. */
                    upstream?: number;
                    /** @description Exactly this model. */
                    model?: string;
                    /** @description Protocol of the client. */
                    protocol?: components["schemas"]["Protocol"];
                    /** @description Client program. */
                    client?: string;
                    /** @description direct_success, failover_success, failed, partial, canceled, client_error, ok or fail. */
                    status?: string;
                    /** @description Error kind, or its beginning. */
                    error_kind?: string;
                    /** @description Whose fault. */
                    error_source?: components["schemas"]["ErrorSource"];
                    /** @description Streams only, or the others only. */
                    stream?: boolean;
                    /** @description More than one attempt. */
                    retried?: boolean;
                    /** @description Took so many milliseconds or longer. */
                    slow_ms?: number;
                    /** @description Request id, or its beginning. */
                    id?: string;
                    /** @description Beginning of the id, or part of address or user agent. */
                    q?: string;
                    /**
                     * @description Priced in full, or charged for and not; this and what follows is asked of the attempts at the upstream, if one is
                     *     named.
                     */
                    priced?: boolean;
                    /**
                     * @description Whose tokens the upstream reported, are estimated by what passed through, or are unknown; or whose output was
                     *     both reported and counted here.
                     */
                    tokens?: "reported" | "estimated" | "unknown" | "compared";
                    /** @description Ended later than this. Without `since` a day before it is looked at. */
                    ended_after?: string;
                    /** @description Ended at this time or earlier. */
                    ended_by?: string;
                    /** @description That asked for no model, showed no known key, or belong to no group. */
                    without?: "model" | "key" | "group";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Options"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/requests/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Figures of the requests that pass a filter */
        get: {
            parameters: {
                query?: {
                    /** @description Started at this time or later (RFC 3339). */
                    since?: string;
                    /** @description Started before this time. */
                    until?: string;
                    /** @description Group id. */
                    group?: number;
                    /** @description Key id. */
                    key?: number;
                    /** @description Any attempt at this upstream. */
                    upstream?: number;
                    /** @description Exactly this model. */
                    model?: string;
                    /** @description Protocol of the client. */
                    protocol?: components["schemas"]["Protocol"];
                    /** @description Client program. */
                    client?: string;
                    /** @description direct_success, failover_success, failed, partial, canceled, client_error, ok or fail. */
                    status?: string;
                    /** @description Error kind, or its beginning. */
                    error_kind?: string;
                    /** @description Whose fault. */
                    error_source?: components["schemas"]["ErrorSource"];
                    /** @description Streams only, or the others only. */
                    stream?: boolean;
                    /** @description More than one attempt. */
                    retried?: boolean;
                    /** @description Took so many milliseconds or longer. */
                    slow_ms?: number;
                    /** @description Request id, or its beginning. */
                    id?: string;
                    /** @description Beginning of the id, or part of address or user agent. */
                    q?: string;
                    /**
                     * @description Priced in full, or charged for and not; this and what follows is asked of the attempts at the upstream, if one is
                     *     named.
                     */
                    priced?: boolean;
                    /**
                     * @description Whose tokens the upstream reported, are estimated by what passed through, or are unknown; or whose output was
                     *     both reported and counted here.
                     */
                    tokens?: "reported" | "estimated" | "unknown" | "compared";
                    /** @description Ended later than this. Without `since` a day before it is looked at. */
                    ended_after?: string;
                    /** @description Ended at this time or earlier. */
                    ended_by?: string;
                    /** @description That asked for no model, showed no known key, or belong to no group. */
                    without?: "model" | "key" | "group";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Stats"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/requests/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One request with its attempts */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Detail"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Revisions, newest first */
        get: {
            parameters: {
                query?: {
                    /** @description Revisions older than this one. */
                    cursor?: number;
                    /** @description Rows of a page (1–200). */
                    per_page?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["List_RevisionRecord"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/revisions/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a revision changed */
        get: {
            parameters: {
                query?: {
                    /** @description An earlier revision; absent: the one before. */
                    against?: number;
                };
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["DiffView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/revisions/{id}/roll-back": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Go back to a revision: its objects become a new one */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RolledBack"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange the admin token for a session's
         * @description The only route that needs no token.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SignIn"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Settings */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SettingsView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Change settings */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SettingsChange"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SettingsView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the gateway is doing */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Status"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tags in use, by name */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["List_TagView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/upstreams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Upstreams */
        get: {
            parameters: {
                query?: {
                    /** @description Part of the name or base URL. */
                    search?: string;
                    /** @description Main tag or label. */
                    tag?: string;
                    /** @description What it speaks. */
                    protocol?: components["schemas"]["UpstreamKind"];
                    /** @description Breaker state: closed, open, half_open. */
                    state?: string;
                    /** @description Switched on or not. */
                    enabled?: boolean;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["List_UpstreamView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Make an upstream
         * @description The body is the object as the configuration file spells it.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Record<string, never>;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/upstreams/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change several upstreams at once: one revision, all or nothing */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Batch"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["BatchView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/upstreams/detect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Find out what an upstream speaks, before it is saved; this asks it a few very small questions */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["DetectBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Detected"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/upstreams/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One upstream */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UpstreamView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Remove an upstream, with its memberships and monitors */
        delete: {
            parameters: {
                query?: {
                    /** @description Refuse if the object was changed since. */
                    revision?: number;
                };
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /**
         * Change an upstream
         * @description The body is a JSON merge patch over the object as the configuration file spells it; `revision` names the state it
         *     was made from.
         */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": Record<string, never>;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/upstreams/{id}/billing/multiplier": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set the multiplier by hand
         * @description It goes before what the upstream states until it is removed.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ManualBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["BillingView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        post?: never;
        /** Remove the multiplier set by hand */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["BillingView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/upstreams/{id}/billing/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask an upstream for its billing now
         * @description Waits for the result, which takes ten seconds at most, or twenty if it is being asked already. A collection that failed is told in `error`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["BillingView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/upstreams/{id}/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Ask an upstream for its models now */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ModelsView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/upstreams/{id}/models/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Forget that the upstream does not have a model */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NamedModel"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UpstreamView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/upstreams/{id}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Close the breaker and forget cooldowns and exclusions */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UpstreamView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/upstreams/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a removed upstream back */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SavedView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/upstreams/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End every wait of the upstream: what still fails waits again */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["UpstreamView"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/upstreams/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Test an upstream with a streamed question; its health is not touched */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: number;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TestBody"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": components["schemas"]["Step"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/whatif": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay recorded traffic through a configuration file (YAML or JSON)
         * @description Nothing is sent and nothing changes. Upstreams answer as they did at the time.
         */
        post: {
            parameters: {
                query?: {
                    /** @description From when; a day before `until` if absent. */
                    since?: string;
                    /** @description Until when; now if absent. */
                    until?: string;
                    /** @description What the file does not list is left out. */
                    prune?: boolean;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/yaml": string;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Comparison"];
                    };
                };
                /** @description Refused or failed */
                default: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ErrorBody"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description What happens to an object.
         * @enum {string}
         */
        Action: "create" | "update" | "delete";
        AffinityStatus: {
            /** @description Sessions remembered. */
            entries: number;
            /**
             * Format: int64
             * @description Requests whose session was known.
             */
            hits: number;
            /**
             * Format: int64
             * @description Requests whose session was not known.
             */
            misses: number;
            /**
             * Format: int64
             * @description Requests served where their session was.
             */
            pinned: number;
            /**
             * Format: int64
             * @description Sessions written.
             */
            puts: number;
        };
        /** @description An alert, as webhooks get it. Fields are only ever added. */
        AlertDocument: {
            /**
             * Format: date-time
             * @description When it was told.
             */
            at: string;
            budget?: components["schemas"]["BudgetUse"] | null;
            class?: components["schemas"]["Class"] | null;
            /**
             * Format: int32
             * @description The number of the credential it is about, as the configuration file counts.
             */
            credential?: number | null;
            /** @description What it was before: `closed`, `accepted`, `available`, `served`, or what the recovery is from. */
            from?: string | null;
            group?: components["schemas"]["Named"] | null;
            /**
             * Format: uuid
             * @description The same for every delivery and repetition of this alert.
             */
            id: string;
            key?: components["schemas"]["Named"] | null;
            /** @description What happened. */
            kind: components["schemas"]["AlertEvent"];
            /** @description The model it is about, by its name at the upstream. */
            model?: string | null;
            money?: components["schemas"]["Money"] | null;
            /** @description For people. */
            sentence: components["schemas"]["Sentence"];
            /**
             * Format: int32
             * @description How often the same thing turned, since it was last told, without being told.
             */
            suppressed: number;
            /** @description What it is now: `open`, `rejected`, `exhausted`, `gone`, `down`, or as it should be. */
            to?: string | null;
            upstream?: components["schemas"]["Named"] | null;
            /** @description Headgate's version. */
            version: string;
        };
        /**
         * @description A turn that people are told of: something stopped serving or needs a person, or it is well again.
         * @enum {string}
         */
        AlertEvent: "upstream_opened" | "upstream_closed" | "credential_rejected" | "credential_exhausted" | "credential_accepted" | "model_gone" | "model_back" | "group_down" | "group_back" | "budget" | "balance_low" | "multiplier_changed" | "over_cap" | "collection_failing" | "billing_warning" | "billing_cleared" | "test";
        /**
         * Format: int64
         * @description An alert target.
         */
        AlertId: number;
        /**
         * @description What the body of a webhook looks like.
         * @enum {string}
         */
        AlertTemplate: "json" | "feishu" | "dingtalk" | "wecom" | "slack" | "discord";
        /** @description An alert target, with what last became of it. Its address and secret are written, never read. */
        AlertView: {
            /** @description The address as far as it may be seen: scheme and host. Absent when it is not in the vault. */
            address?: string | null;
            debounce?: components["schemas"]["Span"] | null;
            /** @description Switched on. */
            enabled: boolean;
            /** @description What is told; absent: everything. */
            events?: components["schemas"]["AlertEvent"][] | null;
            /** @description Identity. */
            id: components["schemas"]["AlertId"];
            last?: components["schemas"]["Delivery"] | null;
            name?: components["schemas"]["Name"] | null;
            /** @description The revision that last changed it; a change has to name it. */
            revision: components["schemas"]["Revision"];
            /** @description It has a signing secret. */
            signed: boolean;
            /** @description What the body looks like. */
            template: components["schemas"]["AlertTemplate"];
            /** @description Why it cannot be called as it is configured. */
            trouble?: string | null;
        };
        /** @description One choice of an alias. */
        AliasTarget_UpstreamId: {
            /** @description The model to ask it for. */
            model: string;
            /**
             * Format: int64
             * @description An upstream, for ever: renaming keeps it, deleting and making anew does not.
             */
            upstream: number;
            /**
             * Format: int32
             * @description Share among the candidates.
             */
            weight?: number;
        };
        /** @description A virtual model. */
        Alias_UpstreamId: {
            /** @description One tier, drawn by weight. */
            candidates: components["schemas"]["AliasTarget_UpstreamId"][];
            /** @description Each a tier of its own, in order. */
            fallback?: components["schemas"]["AliasTarget_UpstreamId"][];
        };
        /** @description An amount of money. */
        Amount: {
            /**
             * @description The amount.
             * @example 0.0105
             */
            amount: string;
            /** @description Its currency. */
            currency: string;
        };
        /** @description What applying did, or would do. */
        Applied: {
            /** @description Whether a new revision was made. */
            changed: boolean;
            /** @description The differences. */
            changes: components["schemas"]["Change"][];
            /** @description Keys that were made. Empty in a dry run. */
            new_keys: components["schemas"]["NewKey"][];
            /** @description Keys that are set but have no effect in this version. */
            notes: components["schemas"]["Problem"][];
            /** @description The revision in force afterwards. */
            revision: components["schemas"]["Revision"];
        };
        /** @description One attempt at an upstream. */
        AttemptRecord: components["schemas"]["UsageColumns"] & components["schemas"]["CostColumns"] & {
            /**
             * Format: date-time
             * @description Start of the attempt.
             */
            attempted_at: string;
            /**
             * Format: date-time
             * @description Its end.
             */
            completed_at: string;
            credential_id?: components["schemas"]["CredentialId"] | null;
            /**
             * Format: int64
             * @description Milliseconds from sending to the last byte.
             */
            duration_ms: number;
            /** @description Class and detail of the failure. */
            error_kind?: string | null;
            error_source?: components["schemas"]["ErrorSource"] | null;
            /** @description A sentence, at most 500 bytes. */
            error_text?: string | null;
            /** @description Breaker after. */
            health_after: components["schemas"]["BreakerState"];
            /** @description Breaker before. */
            health_before: components["schemas"]["BreakerState"];
            /** @description The last event seen, at most 80 bytes. */
            last_event?: string | null;
            /** @description The model name sent. */
            mapped_model?: string | null;
            /**
             * Format: int32
             * @description 1, 2, 3 …
             */
            number: number;
            /** @description How it ended. */
            outcome: components["schemas"]["Outcome"];
            /**
             * Format: int32
             * @description Priority of the member.
             */
            priority: number;
            /** @description What the upstream speaks. */
            protocol: components["schemas"]["UpstreamKind"];
            /** @description Proxy used, without user information; none when direct. */
            proxy?: string | null;
            /**
             * Format: uuid
             * @description The request it belongs to.
             */
            request_id: string;
            /**
             * Format: int64
             * @description Bytes of body received.
             */
            response_bytes: number;
            /** @description Why it was chosen. */
            selection: components["schemas"]["Selection"];
            /**
             * Format: date-time
             * @description Start of the request (part of the key: the partition).
             */
            started_at: string;
            /**
             * Format: int32
             * @description HTTP status of the upstream; none when it sent none.
             */
            status?: number | null;
            /** @description Whether the answer was an event stream. */
            stream: boolean;
            /** @description Whether the completion event was seen. */
            stream_completed: boolean;
            /**
             * Format: int64
             * @description Milliseconds to the first output (streams).
             */
            ttft_ms?: number | null;
            /** @description Upstream. */
            upstream_id: components["schemas"]["UpstreamId"];
            /** @description Its name at the time. */
            upstream_name: string;
            /** @description The upstream's own request id. */
            upstream_request_id?: string | null;
            /** @description Codes of what translation dropped or changed. */
            warnings: string[];
        };
        /** @description How the credential is sent. */
        Auth: "bearer" | "x-api-key" | {
            /** @description A header of this name with the bare credential. */
            header: string;
        };
        /** @description The weights of `balanced`. */
        Balance: {
            /**
             * Format: double
             * @default 0.3
             */
            latency: number;
            /**
             * Format: double
             * @default 0.15
             */
            load: number;
            /**
             * Format: double
             * @default 0.25
             */
            price: number;
            /**
             * Format: double
             * @default 0.3
             */
            quality: number;
        };
        /** @description What was left at a moment. */
        BalancePoint: {
            /** @description The sum of what was known then. */
            amount: string;
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
        };
        /** @description What to do to several upstreams. */
        Batch: components["schemas"]["BatchAction"] & {
            /** @description Which. */
            ids: components["schemas"]["UpstreamId"][];
        };
        /** @description What is done to each of them. */
        BatchAction: {
            /** @enum {string} */
            action: "enable";
        } | {
            /** @enum {string} */
            action: "disable";
        } | {
            /** @enum {string} */
            action: "delete";
        } | {
            /** @enum {string} */
            action: "tag";
            /** @description Labels. */
            labels?: string[];
            /** @description The main tag. */
            main?: string | null;
        } | {
            /** @enum {string} */
            action: "untag";
            /** @description Labels. */
            labels?: string[];
            /** @description The main tag. */
            main?: string | null;
        };
        /** @description What it did. */
        BatchView: {
            /** @description The revision in force afterwards. */
            revision: components["schemas"]["Revision"];
        };
        /** @description One attempt of ours that the upstream may have charged for. */
        BilledRequest: {
            /**
             * Format: int32
             * @description The number of the attempt.
             */
            attempt: number;
            /**
             * Format: date-time
             * @description When it was sent.
             */
            began: string;
            /** @description Whether that has all parts; otherwise it is a lower bound. */
            complete: boolean;
            /**
             * Format: date-time
             * @description When it ended.
             */
            ended: string;
            /** @description Our id of the request. */
            id: string;
            /** @description Its list price by these tokens, in dollars. */
            list?: string | null;
            /** @description The model, by the name the upstream was asked for. */
            model: string;
            /** @description The multiplier stated at the time. */
            multiplier?: string | null;
            /** @description The entry of the price list, or the own rule's pattern, by which it was priced. */
            price_entry?: string | null;
            /** @description The version of the price list. */
            price_version?: string | null;
            /** @description The upstream's id of it. */
            upstream_request_id?: string | null;
            /** @description The tokens the upstream reported with its answer. */
            usage: components["schemas"]["Usage"];
        };
        /** @description How the upstream bills. */
        Billing: {
            /** @default null */
            access_token: components["schemas"]["Masked"] | null;
            /**
             * @description Credits bought with one unit of money; absent: 1.
             * @default null
             */
            credit_ratio: string | null;
            /** @default null */
            interval: components["schemas"]["Span"] | null;
            /**
             * @description The billing API.
             * @default none
             */
            kind: components["schemas"]["BillingKind"];
            /**
             * @description A balance below it is told as low, in the currency the site shows; absent: what would not last a day.
             * @default null
             */
            low_balance: string | null;
            /**
             * Format: int64
             * @description The account's number, which belongs to the access token.
             * @default null
             */
            user_id: number | null;
        };
        /**
         * @description Which billing API the upstream has.
         * @enum {string}
         */
        BillingKind: "none" | "auto" | "sub2api" | "newapi";
        /**
         * @description How collecting goes.
         * @enum {string}
         */
        BillingState: "not_asked" | "pending" | "ok" | "partial" | "error";
        /** @description What was charged against list price × multiplier. */
        BillingTrack: {
            /** @description What the list price is from. */
            basis: components["schemas"]["CostBasis"];
            /** @description The charged amount. */
            charged: string;
            /** @description What the charged amount is from. */
            charged_from: components["schemas"]["CostBasis"];
            /** @description Charged − expected. */
            deviation: string;
            /** @description List price × multiplier, pair by pair. */
            expected: string;
            /** @description The list price. */
            list: string;
            /** @description Charged ÷ list price; none without one. */
            observed_multiplier?: string | null;
            /** @description Deviation ÷ expected; none if nothing was expected. */
            rate?: string | null;
            /** @description What the deviation may be. */
            tolerance: string;
        };
        /** @description What is known of an upstream's billing. */
        BillingView: {
            /**
             * Format: date-time
             * @description When it was last asked.
             */
            checked_at?: string | null;
            /**
             * Format: date-time
             * @description When the figures were told.
             */
            collected_at?: string | null;
            /** @description What needs a person. */
            concerns: components["schemas"]["Concern"][];
            currency?: components["schemas"]["Currency"] | null;
            /**
             * Format: date-time
             * @description When it is asked again.
             */
            due_at?: string | null;
            /** @description Why the newest collection failed. */
            error?: string | null;
            /** @description How much more was charged, or stated, than explained in that day, in `currency`. */
            excess?: string | null;
            /** @description Nothing is left: it is not used. */
            exhausted: boolean;
            /**
             * Format: date-time
             * @description Since when no collection has worked.
             */
            failing_since?: string | null;
            /** @description The upstream's own group that the key belongs to. */
            group?: string | null;
            /** @description The multiplier was set by hand. */
            manual: boolean;
            /** @description The multiplier in force now, before the credit ratio; as decisions take it. */
            multiplier?: string | null;
            /**
             * Format: date-time
             * @description When the multiplier was stated or set.
             */
            multiplier_at?: string | null;
            /** @description The multiplier stated before the present one. */
            multiplier_before?: string | null;
            /**
             * Format: date-time
             * @description When it was first stated otherwise.
             */
            multiplier_changed_at?: string | null;
            /** @description What one unit of list price costs: multiplier ÷ credit ratio. What caps are compared with. */
            price?: string | null;
            /** @description Units of that for one of the currency that its figures are kept in; absent: it is the same. */
            rate?: string | null;
            reason?: components["schemas"]["CostReason"] | null;
            /** @description What is left, in `currency`. */
            remaining?: string | null;
            /** @description What was spent in that day, in `currency`, as far as its API tells. */
            spent_day?: string | null;
            spoken?: components["schemas"]["Spoken"] | null;
            /** @description How collecting goes. */
            state: components["schemas"]["BillingState"];
            /** @description There is no end to what is left. */
            unlimited: boolean;
            verdict?: components["schemas"]["CostStatus"] | null;
            /** @description What the newest figures lack. */
            warning?: string | null;
        };
        /**
         * @description State of an upstream's breaker.
         * @enum {string}
         */
        BreakerState: "closed" | "open" | "half_open";
        /** @description A budget; absent parts are unlimited. */
        Budget: {
            /**
             * @description Currency code; absent: USD.
             * @default null
             */
            currency: string | null;
            /**
             * @description A day in the setting `time_zone`.
             * @default null
             */
            day: string | null;
            /**
             * @description A month.
             * @default null
             */
            month: string | null;
            /**
             * @description Altogether.
             * @default null
             */
            total: string | null;
        };
        /** @description How far a budget is used: what is shown is what is enforced. */
        BudgetFigures: {
            /** @description The budget's currency. */
            currency: components["schemas"]["Currency"];
            /**
             * @description How much may be spent.
             * @example 5
             */
            limit: string;
            /** @description Spent in other currencies, which does not count against the limit. */
            other: components["schemas"]["Money"][];
            /**
             * Format: date-time
             * @description When it begins anew; absent: never.
             */
            resets_at?: string | null;
            /**
             * Format: double
             * @description Spent of the limit: 1 is all of it.
             */
            share: number;
            /** @description Over which span. */
            span: components["schemas"]["BudgetSpan"];
            /**
             * @description Spent so far: what the database said last and what this process has not told it yet.
             * @example 4.75
             */
            spent: string;
            /**
             * Format: int64
             * @description Attempts without a price, which count as nothing.
             */
            unpriced: number;
        };
        /** @description Whose budget it is. */
        BudgetOwner: {
            /** @description An access key's. */
            id: components["schemas"]["KeyId"];
            /** @enum {string} */
            owner: "key";
        } | {
            /** @description A group's. */
            id: components["schemas"]["GroupId"];
            /** @enum {string} */
            owner: "group";
        };
        /**
         * @description How long a budget lasts.
         * @enum {string}
         */
        BudgetSpan: "day" | "month" | "total";
        /** @description How far a budget is used, and what may still be added to it. */
        BudgetState: components["schemas"]["BudgetFigures"] & {
            /**
             * Format: int64
             * @description Requests under way in this process: the limit can be exceeded by their cost, and by no more.
             */
            in_flight: number;
        };
        /** @description A budget that is used to a share. */
        BudgetUse: {
            /** @description Its currency. */
            currency: components["schemas"]["Currency"];
            /**
             * @description How much may be spent.
             * @example 5
             */
            limit: string;
            /**
             * Format: int32
             * @description The share that was reached, in hundredths: 80, 95 or 100.
             */
            percent: number;
            /** @description Over which span. */
            span: components["schemas"]["BudgetSpan"];
        };
        /** @description Attempts. */
        Calls: {
            /**
             * Format: int64
             * @description Those that may have been charged for.
             */
            charged: number;
            /**
             * Format: int64
             * @description All of them.
             */
            made: number;
            /**
             * Format: int64
             * @description Those of them that are priced in full.
             */
            priced: number;
            /**
             * Format: int64
             * @description Those that have an amount, in full or as a lower bound.
             */
            with_amount: number;
        };
        CandidateView: components["schemas"]["Reason"] & {
            forecast?: components["schemas"]["Forecast"] | null;
            /** @description Its name. */
            name: string;
            /**
             * Format: int32
             * @description Its priority here.
             */
            priority: number;
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
        };
        /**
         * @description What an upstream can do.
         * @enum {string}
         */
        Capability: "chat" | "stream" | "tools" | "images" | "documents" | "structured_output" | "reasoning";
        /** @description One object's change. */
        Change: {
            /** @description What happens to it. */
            action: components["schemas"]["Action"];
            /** @description Its fields. */
            fields: components["schemas"]["FieldChange"][];
            /** @description The object's name in its section. */
            name: string;
            /** @description `settings`, `upstreams`, `groups`, `keys`, `monitors` or `alerts`. */
            section: string;
        };
        /** @description What a change of monitors did. */
        Changed: {
            /** @description The monitors made or changed. */
            ids: components["schemas"]["MonitorId"][];
            /** @description The revision in force afterwards. */
            revision: components["schemas"]["Revision"];
        };
        /** @description One request as an upstream has charged for it. */
        Charge: {
            /**
             * Format: date-time
             * @description When it was charged, to the second at best.
             */
            at: string;
            /** @description What was charged, in dollars. */
            charged: string;
            /** @description Tells it from the upstream's other charges. */
            id: string;
            /** @description The key it was charged to, by its name there. */
            key?: string | null;
            /** @description Its list price, in dollars. */
            list?: string | null;
            /** @description The model. */
            model: string;
            /** @description The multiplier applied. */
            multiplier?: string | null;
            /** @description The upstream's id of the request. */
            request_id?: string | null;
            /** @description The tokens charged for. */
            usage: components["schemas"]["Usage"];
        };
        /**
         * @description In what a charge differs from the request.
         * @enum {string}
         */
        ChargeDifference: "tokens_exceeded" | "cached_as_fresh" | "list_exceeded" | "multiplier_exceeded";
        /**
         * @description How both were found to belong together.
         * @enum {string}
         */
        ChargeMatch: "id" | "tokens" | "time";
        /** @description A charge, a request, or both. */
        ChargePair: {
            by?: components["schemas"]["ChargeMatch"] | null;
            charge?: components["schemas"]["Charge"] | null;
            /** @description In what they differ. */
            differences: components["schemas"]["ChargeDifference"][];
            request?: components["schemas"]["BilledRequest"] | null;
        };
        /** @description Sums of a reconciliation, in dollars. */
        ChargeSums: {
            /** @description What was charged for matched requests. */
            charged: string;
            /** @description What was charged where something differs. */
            charged_differing: string;
            /** @description What was charged for traffic from elsewhere. */
            charged_elsewhere: string;
            /** @description How often each difference was found. */
            differences: [
                "tokens_exceeded" | "cached_as_fresh" | "list_exceeded" | "multiplier_exceeded",
                number
            ][];
            /** @description Of these, such as differ. */
            differing: number;
            /** @description Charges with their request. */
            matched: number;
            /** @description Requests without a charge. */
            ours: number;
            /** @description Charges without a request: traffic from elsewhere. */
            theirs: number;
        };
        /** @description Single charges against single requests, newest first. */
        ChargesView: {
            compared?: components["schemas"]["CostWindow"] | null;
            /** @description Older rows were left out: there were too many. */
            is_cut: boolean;
            /** @description The page. */
            items: components["schemas"]["ChargePair"][];
            /** @description Sums of the whole window. */
            sums: components["schemas"]["ChargeSums"];
            /** @description Rows of this kind in all. */
            total: number;
            /** @description The upstream. */
            upstream_id: components["schemas"]["UpstreamId"];
        };
        ChosenView: {
            credential?: components["schemas"]["CredentialId"] | null;
            selection?: components["schemas"]["Selection"] | null;
            /** @description The model name it would be asked for. */
            sent_model?: string | null;
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
        };
        /**
         * @description The class of a result.
         * @enum {string}
         */
        Class: "ok" | "client_gone" | "client_fault" | "content_policy" | "credential" | "exhausted" | "rate_limited" | "overloaded" | "model_missing" | "server" | "connect" | "slow_first" | "stalled" | "cut" | "broken" | "empty" | "deadline" | "untranslatable" | "gateway";
        /** @description Output of attempts that was both reported and counted here. */
        ComparedOutput: {
            /**
             * Format: int64
             * @description Attempts.
             */
            attempts: number;
            /**
             * Format: int64
             * @description As it passed through.
             */
            observed: number;
            /**
             * Format: int64
             * @description As it was reported.
             */
            reported: number;
        };
        /** @description Recorded traffic, the configuration in force, and another one. */
        Comparison: {
            /** @description The configuration in force, replayed: how far it is from what happened is how far a replay can be trusted. */
            current: components["schemas"]["ReplayFigures"];
            /** @description The other configuration, replayed. */
            draft: components["schemas"]["ReplayFigures"];
            /**
             * Format: int64
             * @description Every so manieth session was replayed.
             */
            every: number;
            /** @description What happened. */
            happened: components["schemas"]["ReplayFigures"];
            /**
             * Format: int64
             * @description Requests that were left out: refused for what they were.
             */
            left_out: number;
            /** @description Names of the upstreams. */
            names: {
                [key: string]: string;
            };
            /**
             * Format: int64
             * @description Requests of that time.
             */
            recorded: number;
            /**
             * Format: date-time
             * @description From when.
             */
            since: string;
            /** @description Groups and access keys of the other configuration with settings that a replay leaves out, at most a hundred. */
            unreplayed: components["schemas"]["Unreplayed"][];
            /**
             * Format: date-time
             * @description Until when.
             */
            until: string;
        };
        /** @description Something about an upstream's money that holds at a moment. */
        Concern: {
            /** @enum {string} */
            kind: "balance_low";
        } | {
            /** @enum {string} */
            kind: "multiplier_changed";
        } | {
            /** @description The group. */
            group: components["schemas"]["GroupId"];
            /** @enum {string} */
            kind: "over_cap";
        } | {
            /** @enum {string} */
            kind: "collection_failing";
        } | {
            /** @enum {string} */
            kind: "billing_warning";
        };
        /** @description A state and its reason. */
        Condition: {
            class?: components["schemas"]["Class"] | null;
            /** @description It has credentials, and none of their secrets was found. */
            credentials_missing: boolean;
            /**
             * Format: int64
             * @description Milliseconds until it is tried again.
             */
            remaining_ms?: number | null;
            /** @description The word. */
            state: components["schemas"]["State"];
            withheld?: components["schemas"]["Withheld"] | null;
        };
        /** @description A cooldown that lasts. */
        CoolingView: {
            /** @description Why. */
            class: components["schemas"]["Class"];
            /** @description The model it is about, when it is not about everything. */
            model?: string | null;
            /**
             * Format: int64
             * @description For how many milliseconds more.
             */
            remaining_ms: number;
        };
        /** @description What is left in one currency. */
        CostBalance: {
            /** @description The sum. */
            amount: string;
            /** @description The currency, as the upstreams show it. */
            currency: string;
            /**
             * Format: double
             * @description Days it lasts if balances fall on as in the last week; absent where none fell.
             */
            days_left?: number | null;
            /** @description Those of them where nothing is left. */
            empty: components["schemas"]["UpstreamId"][];
            /** @description By how much they fell on a day of that week. */
            falls_a_day?: string | null;
            /**
             * Format: date-time
             * @description When the oldest of these figures was told.
             */
            oldest_at?: string | null;
            /** @description The last 30 days. */
            points: components["schemas"]["BalancePoint"][];
            /** @description The upstreams it is at. */
            upstreams: components["schemas"]["UpstreamId"][];
        };
        /**
         * @description The figure a track rests on.
         * @enum {string}
         */
        CostBasis: "reported" | "local" | "balance";
        /** @description The cost of an attempt under the names of its columns. Without an amount nobody can tell. */
        CostColumns: {
            /**
             * @description The amount; a lower bound where there are gaps.
             * @example 0.0105
             */
            cost?: string | null;
            /** @description Its currency. */
            cost_currency?: string | null;
            /**
             * @description What is not in it, or makes it an estimate: `no_price.cache_read`, `not_reported.output`, `cut` (the
             *     answer broke off), `estimated`; absent: nothing.
             */
            cost_gaps?: string[] | null;
            /** @description The list's name for the model, or the own rule's pattern. */
            price_entry?: string | null;
            /**
             * Format: int64
             * @description The own rule that set the price.
             */
            price_rule?: number | null;
            /** @description What had to be done to the model's name to find it; absent: nothing. */
            price_steps?: string[] | null;
            /** @description Version of the price list in force. */
            price_version?: string | null;
        };
        /** @description The evidence and what follows from it. */
        CostComparison: {
            /** @description Whose the balance is. */
            balance: components["schemas"]["CostScope"];
            billing?: components["schemas"]["BillingTrack"] | null;
            /** @description Whose the counters are. */
            counters: components["schemas"]["CostScope"];
            /** @description How much of our own traffic could be priced. */
            coverage: components["schemas"]["CostCoverage"];
            /** @description The currency of all amounts. */
            currency: components["schemas"]["Currency"];
            /** @description Stated list price that our own traffic does not explain and that need not be ours. */
            elsewhere?: string | null;
            list?: components["schemas"]["ListTrack"] | null;
            /** @description The newest multiplier known, at the end of the window. */
            multiplier?: string | null;
            /** @description The stated one changed within the window, at a time that nobody knows. */
            multiplier_changed: boolean;
            /** @description Pairs compared. */
            pairs: number;
            /** @description Why. */
            reason: components["schemas"]["CostReason"];
            /** @description What was left out, and how often. */
            skipped: [
                "key_changed" | "currency_changed" | "counter_reset" | "top_up" | "no_time",
                number
            ][];
            /** @description Snapshots used, that before the window included. */
            snapshots: number;
            /** @description How it looks. */
            status: components["schemas"]["CostStatus"];
            /** @description What was asked about. */
            window: components["schemas"]["CostWindow"];
        };
        /** @description How much of our own traffic could be priced. */
        CostCoverage: {
            /**
             * Format: int64
             * @description Those of them with a price for every part.
             */
            priced: number;
            /**
             * Format: int64
             * @description Attempts in the pairs compared.
             */
            requests: number;
            /** @description `priced / requests`; 1 without requests. */
            share: string;
            /** @description Part of the window that the pairs compared cover. */
            time: string;
        };
        /** @description An upstream's own figures. */
        CostFigures: {
            /**
             * Format: date-time
             * @description From this time on, with the last snapshot before it.
             */
            from: string;
            /** @description Older ones left out. */
            more: number;
            /** @description Newest first, at most 500. */
            pairs: components["schemas"]["FigurePair"][];
            sums?: components["schemas"]["FigureSums"] | null;
            /**
             * Format: date-time
             * @description Up to this time.
             */
            to: string;
        };
        /**
         * @description Why it looks so.
         * @enum {string}
         */
        CostReason: "as_expected" | "idle" | "charged_exceeded" | "list_exceeded" | "tokens_exceeded" | "charged_exceeded_local_basis" | "multiplier_changed" | "no_snapshots" | "no_usable_pair" | "multiplier_unknown" | "charged_unknown" | "list_unknown" | "traffic_elsewhere";
        /**
         * @description Whose traffic a figure covers.
         * @enum {string}
         */
        CostScope: "key" | "account";
        /**
         * @description Why a pair of snapshots, or a part of it, was left out.
         * @enum {string}
         */
        CostSkip: "key_changed" | "currency_changed" | "counter_reset" | "top_up" | "no_time";
        /**
         * @description How it looks.
         * @enum {string}
         */
        CostStatus: "ok" | "warning" | "cannot_tell";
        /** @description A span of time: later than `from`, up to and with `to`. */
        CostWindow: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
        };
        /** @description Money at a glance. */
        Costs: components["schemas"]["Spent"] & {
            /** @description What is left, by currency. */
            balances: components["schemas"]["CostBalance"][];
            /** @description Output that upstreams reported against what passed through. */
            tokens: components["schemas"]["TokenCheck"][];
            /** @description Models of upstreams without a full price: they are not in the amounts, or not whole. */
            unpriced: components["schemas"]["Unpriced"][];
            /** @description The upstreams and whether they charged what they said. */
            upstreams: components["schemas"]["UpstreamCosts"][];
        };
        /** @description Whether an upstream charged what it said. */
        CostsView: {
            /** @description What its billing says now. */
            billing: components["schemas"]["BillingView"];
            /** @description The upstream. */
            upstream_id: components["schemas"]["UpstreamId"];
            /** @description The comparison over the last hour, day and week. */
            windows: components["schemas"]["WindowView"][];
        };
        /** @description One credential that is cooling down. */
        CredentialHealth: {
            /** @description Its cooldowns. */
            cooling: components["schemas"]["CoolingView"][];
            id?: components["schemas"]["CredentialId"] | null;
        };
        /**
         * Format: int64
         * @description One credential of an upstream; `credential/<id>` is its account in the vault.
         */
        CredentialId: number;
        /** @description Where a credential's text is. */
        CredentialSource: {
            /** @description In this environment variable of the serving process. */
            env: string;
        } | "vault";
        /** @description A credential, without its secret. */
        CredentialView: {
            /** @description Its last four characters (vault only). */
            hint?: string | null;
            /** @description Identity. */
            id: components["schemas"]["CredentialId"];
            /** @description Its secret was not found: it is not used. */
            missing: boolean;
            /** @description How files spell it: `NAME/1`. */
            name: string;
            /** @description Where its secret is. */
            source: components["schemas"]["CredentialSource"];
        };
        /**
         * @description A currency's code: 2 to 8 capital letters or digits, such as `USD`, `CNY`, or a relay's own unit.
         * @example USD
         */
        Currency: string;
        DatabaseStatus: {
            /** @description Why it does not answer. */
            error?: string | null;
            /** @description `embedded` or `configured`. */
            kind: string;
            /** @description Whether it answers now. */
            reachable: boolean;
            /** @description Its version. */
            server_version?: string | null;
        };
        /** @description One alert and what became of it at one target. */
        Delivery: {
            /**
             * Format: uuid
             * @description The alert.
             */
            alert: string;
            /**
             * Format: date-time
             * @description When it was told.
             */
            at: string;
            /**
             * Format: int32
             * @description How often it was sent.
             */
            attempts: number;
            /**
             * Format: int64
             * @description Milliseconds until it ended, pauses included.
             */
            duration_ms: number;
            /** @description What went wrong last. */
            error?: string | null;
            /** @description What happened. */
            kind: components["schemas"]["AlertEvent"];
            /** @description How it ended. */
            outcome: components["schemas"]["DeliveryOutcome"];
            /** @description For people. */
            sentence: components["schemas"]["Sentence"];
            /**
             * Format: int32
             * @description The status of the last answer.
             */
            status?: number | null;
            /**
             * Format: int32
             * @description How often the same thing turned before without being told.
             */
            suppressed: number;
            /** @description The target. */
            target: components["schemas"]["AlertId"];
        };
        /**
         * @description How a delivery ended.
         * @enum {string}
         */
        DeliveryOutcome: "delivered" | "failed" | "dropped";
        /** @description A delivery, and to whom it went. */
        DeliveryView: components["schemas"]["Delivery"] & {
            /** @description What the target is called, or its address as far as it may be seen; absent once it is removed. */
            target_name?: string | null;
        };
        /** @description A request with its attempts. */
        Detail: components["schemas"]["RequestRecord"] & {
            /** @description Its attempts in order. */
            attempts: components["schemas"]["AttemptRecord"][];
        };
        /** @description Where to look. */
        DetectBody: {
            /** @description Allow plain http beyond this machine. */
            allow_plain_http?: boolean;
            /** @description Base URL. */
            base_url: string;
            /** @description The credential; absent: none. */
            credential?: string | null;
            /** @description The model to ask; absent: a small one of the list. */
            model?: string | null;
            /** @description Proxy; absent: that of the environment. */
            proxy?: string | null;
        };
        /** @description What was found. */
        Detected: {
            /** @description Why nothing is suggested. */
            error?: string | null;
            /** @description Models, as listed there. */
            models: string[];
            /** @description The protocols tried. */
            protocols: components["schemas"]["Spoken"][];
            /** @description Something answered there. */
            reachable: boolean;
            suggestion?: components["schemas"]["Suggestion"] | null;
        };
        /** @description A difference. */
        DiffView: {
            /** @description What is different. */
            changes: components["schemas"]["Change"][];
            /** @description The earlier revision. */
            from: components["schemas"]["Revision"];
            /** @description The later one. */
            to: components["schemas"]["Revision"];
        };
        /** @description What groups' traffic would have cost elsewhere. */
        Elsewhere: {
            /**
             * Format: date-time
             * @description From this time on.
             */
            from: string;
            /** @description Groups with priced traffic, by their name. */
            groups: components["schemas"]["GroupElsewhere"][];
            /**
             * Format: date-time
             * @description Before this time.
             */
            to: string;
        };
        /** @description What one model costs. */
        Entry: {
            /** @description The currency of every rate. */
            currency?: components["schemas"]["Currency"];
            /** @description In no order that matters; each (part, service, above) once. */
            rates: components["schemas"]["Rate"][];
        };
        /** @description An error answer. */
        ErrorBody: {
            /** @description What went wrong. */
            error: components["schemas"]["ErrorDetail"];
        };
        /** @description What went wrong. */
        ErrorDetail: {
            /** @description Stable machine code. */
            code: string;
            /** @description The object as it is now (`revision_conflict`). */
            current?: Record<string, never> | null;
            /** @description The field it is about. */
            field?: string | null;
            /** @description A sentence with cause and remedy. */
            message: string;
            /** @description Everything that is wrong with a configuration. */
            problems?: components["schemas"]["Problem"][];
            /**
             * Format: uuid
             * @description To find this in the log.
             */
            request_id: string;
        };
        /**
         * @description Whose fault an error is.
         * @enum {string}
         */
        ErrorSource: "client" | "upstream" | "gateway";
        /** @description Something that happened. A watcher that is too slow is told how many it missed. */
        Event: {
            /**
             * Format: int64
             * @description Milliseconds until a trial is admitted.
             */
            open_ms?: number | null;
            /** @description `open` or `closed`. */
            state: string;
            /** @enum {string} */
            type: "health";
            /** @description Whose. */
            upstream: components["schemas"]["UpstreamId"];
        } | {
            /** @description The group. */
            group: string;
            /**
             * Format: uuid
             * @description Its id.
             */
            id: string;
            /** @description The model asked for. */
            model: string;
            /** @enum {string} */
            type: "request_started";
        } | {
            /**
             * Format: int32
             * @description Attempts made.
             */
            attempts: number;
            /**
             * Format: int64
             * @description Milliseconds altogether.
             */
            duration_ms: number;
            /**
             * Format: uuid
             * @description Its id.
             */
            id: string;
            /** @description How. */
            outcome: components["schemas"]["Outcome"];
            /**
             * Format: int32
             * @description Status sent.
             */
            status: number;
            /** @enum {string} */
            type: "request_finished";
            /** @description The upstream that answered. */
            upstream?: string | null;
        } | {
            /** @enum {string} */
            type: "requests_stored";
        } | {
            /** @description The group. */
            group: components["schemas"]["GroupId"];
            /** @enum {string} */
            type: "withheld";
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
            /** @description Which of both. */
            withheld: boolean;
        } | {
            /** @enum {string} */
            type: "compared";
        } | {
            /** @description The monitor. */
            monitor: components["schemas"]["MonitorId"];
            /** @enum {string} */
            type: "probed";
        } | {
            /** @description What. */
            alert: components["schemas"]["AlertDocument"];
            /** @enum {string} */
            type: "alerted";
        } | {
            /** @description The target. */
            target: components["schemas"]["AlertId"];
            /** @enum {string} */
            type: "alert_delivered";
        } | {
            /** @description Its new number. */
            revision: components["schemas"]["Revision"];
            /** @enum {string} */
            type: "revision";
        } | {
            /** @description Which of both. */
            reachable: boolean;
            /** @enum {string} */
            type: "database";
        } | {
            /** @description Which of both. */
            paused: boolean;
            /** @enum {string} */
            type: "paused";
        } | {
            /**
             * Format: int64
             * @description How many.
             */
            missed: number;
            /** @enum {string} */
            type: "lagged";
        };
        /** @description What would happen. */
        Explanation: {
            /** @description Every member in the order of the pool. */
            candidates: components["schemas"]["CandidateView"][];
            chosen?: components["schemas"]["ChosenView"] | null;
            /** @description Why nobody would be: the code a client would see. */
            refusal?: string | null;
            /**
             * Format: int64
             * @description Milliseconds until somebody can be asked again.
             */
            retry_ms?: number | null;
        };
        /** @description One field's change; an absent side means the field is not set there. */
        FieldChange: {
            /** @description The value after. */
            after?: Record<string, never>;
            /** @description The value before. */
            before?: Record<string, never>;
            /** @description `timeouts.connect`, `members[1].priority`. */
            path: string;
        };
        /** @description Our own calls of a time. */
        FigureOurs: {
            /**
             * Format: int64
             * @description How many may have been charged for.
             */
            calls: number;
            /** @description What these cost at list price. */
            list: string;
            /**
             * Format: int64
             * @description Those of them that are priced in full.
             */
            priced: number;
        };
        /** @description What changed from one snapshot to the next. */
        FigurePair: {
            /** @description That was set by hand. */
            by_hand: boolean;
            /** @description What was charged in between, by its counter. */
            charged?: string | null;
            /** @description The currency of the amounts. */
            currency: components["schemas"]["Currency"];
            /** @description List price × mean multiplier, where a charge is compared with it. */
            due?: string | null;
            /**
             * Format: date-time
             * @description The snapshot before.
             */
            from: string;
            left_out?: components["schemas"]["CostSkip"] | null;
            /** @description List price of what was used in between, by its counter. */
            list?: string | null;
            /** @description The multiplier in force at its end. */
            multiplier?: string | null;
            ours?: components["schemas"]["FigureOurs"] | null;
            /** @description What is left. */
            remaining?: string | null;
            /** @description By how much the balance fell. */
            spent?: string | null;
            /**
             * Format: date-time
             * @description This one.
             */
            to: string;
        };
        /** @description What the pairs that are compared add up to. */
        FigureSums: {
            /** @description What was charged, or by how much the balance fell, where something was due. */
            charged: string;
            /** @description List price × multiplier. */
            due: string;
            /** @description List price that it states. */
            list: string;
            /** @description Our own calls. */
            ours: components["schemas"]["FigureOurs"];
        };
        /** @description Something a person should know; most severe first. */
        Finding: components["schemas"]["What"] & {
            /** @description How bad. */
            severity: components["schemas"]["Severity"];
        };
        /** @description Times to the first output, in milliseconds. */
        FirstOutput: {
            /**
             * Format: int64
             * @description Half of the answers began by then.
             */
            median: number;
            /**
             * Format: int64
             * @description Of a hundred, ninety-five.
             */
            p95: number;
        };
        /** @description What one request is expected to cost at a member. */
        Forecast: {
            /**
             * Format: double
             * @description For one request; without list prices only to be compared within this answer.
             */
            cost: number;
            /**
             * Format: double
             * @description Share of the prompt that its cache has to do with; absent: it was not seen to have one.
             */
            coverage?: number | null;
            /** @description In which currency; absent where no member has list prices. */
            currency?: string | null;
            /**
             * Format: int32
             * @description By how many percent dearer than the cheapest.
             */
            dearer: number;
            /**
             * Format: double
             * @description How often its cache finds what was written.
             */
            hit_rate?: number | null;
            /** @description Its model has list prices; otherwise those of another member were taken. */
            listed: boolean;
            /**
             * Format: double
             * @description Multiplier ÷ credit ratio; absent: unknown, taken as 1.
             */
            multiplier?: number | null;
            /**
             * Format: double
             * @description Share of the last hour's attempts that succeeded; absent: too few to tell.
             */
            success_rate?: number | null;
            /** @description The member. */
            upstream: components["schemas"]["UpstreamId"];
            /** @description The session's prompt is in its cache now. */
            warm: boolean;
        };
        /** @description A group's traffic. */
        GroupElsewhere: {
            /**
             * Format: int64
             * @description Attempts that were charged for and priced.
             */
            attempts: number;
            /** @description The currency that most of it is priced in; the rest is left out. */
            currency: string;
            /** @description The group. */
            group_id: components["schemas"]["GroupId"];
            /** @description Each member alone, the cheapest of those first that could have served all of it. */
            members: components["schemas"]["MemberElsewhere"][];
            /** @description Its name. */
            name: string;
            /** @description As it was: the upstreams that served, together. */
            was: components["schemas"]["Priced"];
            /** @description What that adds up, by upstream and model. */
            was_parts: components["schemas"]["PartElsewhere"][];
        };
        /**
         * Format: int64
         * @description A group.
         */
        GroupId: number;
        /** @description Everything of a group but its identity. */
        GroupSpec_UpstreamId: {
            /** @description `cheapest` compares the members of all tiers as if they were one. */
            across_tiers?: boolean;
            /** @description Virtual models. */
            aliases?: {
                [key: string]: components["schemas"]["Alias_UpstreamId"];
            };
            /** @description The weights of `balanced`. */
            balance?: components["schemas"]["Balance"];
            budget?: components["schemas"]["Budget"] | null;
            /** @description Cap on the billing multiplier. */
            max_multiplier?: string | null;
            /** @description The pool. */
            members?: components["schemas"]["Member_UpstreamId"][];
            /** @description What happens when a tier is full. */
            on_saturation?: components["schemas"]["OnSaturation"];
            /** @description The bounded queue. */
            queue?: components["schemas"]["Queue"];
            /** @description Regions allowed; absent: any. */
            regions?: string[] | null;
            /** @description Capabilities every member must have. */
            require?: components["schemas"]["Capability"][];
            /** @description How one of several members of a tier is chosen. */
            strategy?: components["schemas"]["Strategy"];
            /** @description A translation loss is refused. */
            strict?: boolean;
            /** @description What happens to a member whose multiplier is unknown. */
            unknown_multiplier?: components["schemas"]["UnknownMultiplier"];
            wait?: components["schemas"]["Span"] | null;
        };
        /** @description A group. */
        GroupView: components["schemas"]["GroupSpec_UpstreamId"] & {
            /** @description How far its budget is used, the shortest span first. */
            budget_state: components["schemas"]["BudgetState"][];
            /** @description Identity. */
            id: components["schemas"]["GroupId"];
            /** @description Name. */
            name: components["schemas"]["Name"];
            /** @description The revision that last changed it; a change has to name it. */
            revision: components["schemas"]["Revision"];
        };
        /** @description A turn of an upstream's health. */
        Incident: {
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            class?: components["schemas"]["Class"] | null;
            group?: components["schemas"]["GroupId"] | null;
            /** @description What. */
            kind: components["schemas"]["IncidentKind"];
            /** @description Whose. */
            upstream: components["schemas"]["UpstreamId"];
            withheld?: components["schemas"]["Withheld"] | null;
        };
        /**
         * @description What happened to an upstream.
         * @enum {string}
         */
        IncidentKind: "opened" | "closed" | "credential_rejected" | "withheld" | "returned";
        /** @description A row of the list. */
        Item: components["schemas"]["RequestRecord"] & {
            /** @description Its attempts in short, in order. */
            route: components["schemas"]["RouteStep"][];
        };
        /** @description How the journal is doing. */
        JournalStats: {
            /** @description The last failure, until something was stored again. */
            last_error?: string | null;
            /**
             * Format: int64
             * @description Records lost since the start: the queue was full, or the journal was.
             */
            lost: number;
            /**
             * Format: date-time
             * @description When the oldest waiting record ended, as far as it was looked at.
             */
            oldest?: string | null;
            /**
             * Format: int64
             * @description Records since the start that the database refused for what they are; they are in `journal/rejected.jsonl`.
             */
            rejected: number;
            /**
             * Format: int64
             * @description Records stored since the start.
             */
            shipped: number;
            /**
             * Format: int64
             * @description Bytes of journal on disk that wait for the database.
             */
            waiting_bytes: number;
            /**
             * Format: int64
             * @description Records that wait for the database.
             */
            waiting_records: number;
        };
        /**
         * Format: int64
         * @description An access key.
         */
        KeyId: number;
        /** @description Everything of a key but its identity and secret. `R` is how its group is named. */
        KeySpec_GroupId: {
            budget?: components["schemas"]["Budget"] | null;
            /** @description Switched on. */
            enabled?: boolean;
            /**
             * Format: date-time
             * @description From then on it is invalid.
             */
            expires_at?: string | null;
            /**
             * Format: int64
             * @description A group.
             */
            group: number;
            /** @description Only upstreams with one of these labels; absent: any. */
            labels?: string[] | null;
            /** @description Limits. */
            limits?: components["schemas"]["Limits"];
            /** @description Models it may ask for; absent: any. */
            models?: string[] | null;
            /** @description Regions allowed; absent: any. */
            regions?: string[] | null;
        };
        /** @description An access key, without its secret. */
        KeyView: components["schemas"]["KeySpec_GroupId"] & {
            /** @description How far its budget is used, the shortest span first. */
            budget_state: components["schemas"]["BudgetState"][];
            /** @description Identity. */
            id: components["schemas"]["KeyId"];
            /** @description Name. */
            name: components["schemas"]["Name"];
            /** @description Its first characters. */
            prefix: string;
            /** @description The revision that last changed it; a change has to name it. */
            revision: components["schemas"]["Revision"];
        };
        /** @description A group and who carries it. */
        Lane: {
            /** @description Identity. */
            id: components["schemas"]["GroupId"];
            /** @description Its members by priority. */
            members: components["schemas"]["LaneMember"][];
            /** @description Name. */
            name: components["schemas"]["Name"];
        };
        LaneMember: {
            /** @description How it is; a membership that is switched off is off. */
            condition: components["schemas"]["Condition"];
            /**
             * Format: int32
             * @description Requests under way.
             */
            in_flight: number;
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /**
             * Format: int32
             * @description Smaller first.
             */
            priority: number;
            /**
             * Format: double
             * @description Share of the group's answered requests of the last 24 hours, 0 to 1.
             */
            share?: number | null;
            /**
             * Format: double
             * @description Median of the last measured times to first token, in milliseconds.
             */
            ttft_ms?: number | null;
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
            /**
             * Format: int32
             * @description Weight within the tier.
             */
            weight: number;
        };
        /** @description When an access key was last used. */
        LastUse: {
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description By which client program. */
            client?: string | null;
            /** @description The key. */
            key: components["schemas"]["KeyId"];
        };
        /** @description Limits of an upstream or key; absent: none. Counted per process. */
        Limits: {
            /**
             * Format: int32
             * @description Requests at the same time.
             * @default null
             */
            concurrency: number | null;
            /**
             * Format: int32
             * @description Requests a minute.
             * @default null
             */
            rpm: number | null;
            /**
             * Format: int64
             * @description Tokens a minute.
             * @default null
             */
            tpm: number | null;
        };
        /** @description Our estimate of the list price against the stated one. */
        ListTrack: {
            /** @description Stated − estimated. */
            deviation: string;
            /** @description Our estimate, extended to what could not be priced. */
            local: string;
            /** @description Of it, what could be priced. */
            local_priced: string;
            /** @description Deviation ÷ the larger of both. */
            rate: string;
            /** @description What the upstream states. */
            reported: string;
            /** @description What the deviation may be. */
            tolerance: string;
        };
        /** @description A list. */
        List_AlertView: {
            /** @description Its items. */
            items: {
                /** @description The address as far as it may be seen: scheme and host. Absent when it is not in the vault. */
                address?: string | null;
                debounce?: components["schemas"]["Span"] | null;
                /** @description Switched on. */
                enabled: boolean;
                /** @description What is told; absent: everything. */
                events?: components["schemas"]["AlertEvent"][] | null;
                /** @description Identity. */
                id: components["schemas"]["AlertId"];
                last?: components["schemas"]["Delivery"] | null;
                name?: components["schemas"]["Name"] | null;
                /** @description The revision that last changed it; a change has to name it. */
                revision: components["schemas"]["Revision"];
                /** @description It has a signing secret. */
                signed: boolean;
                /** @description What the body looks like. */
                template: components["schemas"]["AlertTemplate"];
                /** @description Why it cannot be called as it is configured. */
                trouble?: string | null;
            }[];
            /** @description Where it goes on. */
            next?: string | null;
            /**
             * Format: int64
             * @description How many there are.
             */
            total?: number | null;
        };
        /** @description A list. */
        List_DeliveryView: {
            /** @description Its items. */
            items: (components["schemas"]["Delivery"] & {
                /** @description What the target is called, or its address as far as it may be seen; absent once it is removed. */
                target_name?: string | null;
            })[];
            /** @description Where it goes on. */
            next?: string | null;
            /**
             * Format: int64
             * @description How many there are.
             */
            total?: number | null;
        };
        /** @description A list. */
        List_GroupView: {
            /** @description Its items. */
            items: (components["schemas"]["GroupSpec_UpstreamId"] & {
                /** @description How far its budget is used, the shortest span first. */
                budget_state: components["schemas"]["BudgetState"][];
                /** @description Identity. */
                id: components["schemas"]["GroupId"];
                /** @description Name. */
                name: components["schemas"]["Name"];
                /** @description The revision that last changed it; a change has to name it. */
                revision: components["schemas"]["Revision"];
            })[];
            /** @description Where it goes on. */
            next?: string | null;
            /**
             * Format: int64
             * @description How many there are.
             */
            total?: number | null;
        };
        /** @description A list. */
        List_Item: {
            /** @description Its items. */
            items: (components["schemas"]["RequestRecord"] & {
                /** @description Its attempts in short, in order. */
                route: components["schemas"]["RouteStep"][];
            })[];
            /** @description Where it goes on. */
            next?: string | null;
            /**
             * Format: int64
             * @description How many there are.
             */
            total?: number | null;
        };
        /** @description A list. */
        List_KeyView: {
            /** @description Its items. */
            items: (components["schemas"]["KeySpec_GroupId"] & {
                /** @description How far its budget is used, the shortest span first. */
                budget_state: components["schemas"]["BudgetState"][];
                /** @description Identity. */
                id: components["schemas"]["KeyId"];
                /** @description Name. */
                name: components["schemas"]["Name"];
                /** @description Its first characters. */
                prefix: string;
                /** @description The revision that last changed it; a change has to name it. */
                revision: components["schemas"]["Revision"];
            })[];
            /** @description Where it goes on. */
            next?: string | null;
            /**
             * Format: int64
             * @description How many there are.
             */
            total?: number | null;
        };
        /** @description A list. */
        List_LastUse: {
            /** @description Its items. */
            items: {
                /**
                 * Format: date-time
                 * @description When.
                 */
                at: string;
                /** @description By which client program. */
                client?: string | null;
                /** @description The key. */
                key: components["schemas"]["KeyId"];
            }[];
            /** @description Where it goes on. */
            next?: string | null;
            /**
             * Format: int64
             * @description How many there are.
             */
            total?: number | null;
        };
        /** @description A list. */
        List_LogLine: {
            /** @description Its items. */
            items: {
                /**
                 * Format: date-time
                 * @description When.
                 */
                at: string;
                /** @description error, warn, info or debug. */
                level: string;
                /** @description What. */
                message: string;
                /**
                 * Format: int64
                 * @description Its number; ever increasing.
                 */
                number: number;
                /** @description The part of the program. */
                target: string;
            }[];
            /** @description Where it goes on. */
            next?: string | null;
            /**
             * Format: int64
             * @description How many there are.
             */
            total?: number | null;
        };
        /** @description A list. */
        List_MemberView: {
            /** @description Its items. */
            items: (components["schemas"]["Member_UpstreamId"] & {
                /** @description How the upstream is, in one word. */
                condition: components["schemas"]["Condition"];
                /** @description How the upstream is, in full. */
                health: components["schemas"]["UpstreamHealth"];
                /** @description The upstream's name. */
                name: components["schemas"]["Name"];
                /** @description The upstream is switched on. */
                upstream_enabled: boolean;
            })[];
            /** @description Where it goes on. */
            next?: string | null;
            /**
             * Format: int64
             * @description How many there are.
             */
            total?: number | null;
        };
        /** @description A list. */
        List_MonitorView: {
            /** @description Its items. */
            items: (components["schemas"]["MonitorSpec_UpstreamId"] & {
                /** @description Whether both the monitor and its upstream are switched on. */
                active: boolean;
                /** @description How the upstream is, in one word. */
                condition: components["schemas"]["Condition"];
                /** @description How the upstream is, of its models only the one that is probed. */
                health: components["schemas"]["UpstreamHealth"];
                /** @description Identity. */
                id: components["schemas"]["MonitorId"];
                /** @description The revision that last changed it; a change has to name it. */
                revision: components["schemas"]["Revision"];
                strip?: components["schemas"]["ProbeStrip"] | null;
                /** @description Its main tag, by which cards are put together. */
                tag?: string | null;
                traffic?: components["schemas"]["ModelTraffic"] | null;
                /** @description The upstream's name. */
                upstream_name: components["schemas"]["Name"];
            })[];
            /** @description Where it goes on. */
            next?: string | null;
            /**
             * Format: int64
             * @description How many there are.
             */
            total?: number | null;
        };
        /** @description A list. */
        List_ProbeRecord: {
            /** @description Its items. */
            items: {
                /**
                 * Format: date-time
                 * @description When it began.
                 */
                at: string;
                /** @description `ok`, or the class of the failure. */
                class: string;
                /**
                 * Format: int64
                 * @description Milliseconds altogether.
                 */
                duration_ms: number;
                /** @description A sentence about a failure, at most 500 bytes. */
                error_text?: string | null;
                /** @description The model asked for. */
                model: string;
                /** @description The monitor. */
                monitor_id: components["schemas"]["MonitorId"];
                /**
                 * Format: int32
                 * @description HTTP status; none when none came.
                 */
                status?: number | null;
                /**
                 * Format: int64
                 * @description Milliseconds to the first output (streams).
                 */
                ttft_ms?: number | null;
                /** @description The upstream probed. */
                upstream_id: components["schemas"]["UpstreamId"];
            }[];
            /** @description Where it goes on. */
            next?: string | null;
            /**
             * Format: int64
             * @description How many there are.
             */
            total?: number | null;
        };
        /** @description A list. */
        List_RevisionRecord: {
            /** @description Its items. */
            items: {
                /** @description Who made it. */
                author: string;
                /**
                 * Format: date-time
                 * @description When.
                 */
                created_at: string;
                /** @description Its number. */
                id: components["schemas"]["Revision"];
                /** @description What was changed, in a sentence. */
                summary: string;
            }[];
            /** @description Where it goes on. */
            next?: string | null;
            /**
             * Format: int64
             * @description How many there are.
             */
            total?: number | null;
        };
        /** @description A list. */
        List_TagView: {
            /** @description Its items. */
            items: {
                /** @description Upstreams that carry it as a label. */
                label: number;
                /** @description Upstreams whose main tag it is. */
                main: number;
                /** @description The word. */
                name: string;
            }[];
            /** @description Where it goes on. */
            next?: string | null;
            /**
             * Format: int64
             * @description How many there are.
             */
            total?: number | null;
        };
        /** @description A list. */
        List_UpstreamView: {
            /** @description Its items. */
            items: (components["schemas"]["UpstreamSpec"] & {
                /** @description What it charges and what is left. */
                account: components["schemas"]["BillingView"];
                /** @description How it is, in one word. */
                condition: components["schemas"]["Condition"];
                /** @description Its credentials. */
                credentials: components["schemas"]["CredentialView"][];
                /** @description Groups it is a member of. */
                groups: components["schemas"]["GroupId"][];
                /** @description How it is, in full. */
                health: components["schemas"]["UpstreamHealth"];
                /** @description Identity. */
                id: components["schemas"]["UpstreamId"];
                /** @description Name. */
                name: components["schemas"]["Name"];
                /** @description The revision that last changed it; a change has to name it. */
                revision: components["schemas"]["Revision"];
            })[];
            /** @description Where it goes on. */
            next?: string | null;
            /**
             * Format: int64
             * @description How many there are.
             */
            total?: number | null;
        };
        Listed: components["schemas"]["Entry"] & {
            /** @description The list's name. */
            name: string;
        };
        /** @description A line. */
        LogLine: {
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description error, warn, info or debug. */
            level: string;
            /** @description What. */
            message: string;
            /**
             * Format: int64
             * @description Its number; ever increasing.
             */
            number: number;
            /** @description The part of the program. */
            target: string;
        };
        /** @description A multiplier set by hand. */
        ManualBody: {
            /** @description How much; more than 0. */
            multiplier: string;
        };
        /** @description A text that is a secret as a whole (a header value, a signing key). It is printed as `***`. */
        Masked: string;
        /** @description A URL whose user information is secret. It is printed with `***` in its place. */
        MaskedUrl: string;
        /** @description A price that was found. */
        Matched: components["schemas"]["Entry"] & {
            /** @description The list's name for the model, or the own price's pattern. */
            name: string;
            /**
             * Format: int64
             * @description The own price it is.
             */
            rule?: number | null;
            /** @description What had to be done to the name to find it; nothing: it is the list's. */
            steps: components["schemas"]["NameStep"][];
        };
        /** @description One member, had it served alone. */
        MemberElsewhere: components["schemas"]["Priced"] & {
            /** @description Its name. */
            name: string;
            /** @description What that adds up, by model. */
            parts: components["schemas"]["PartElsewhere"][];
            /**
             * Format: double
             * @description The share of the list price that it could have served: models it may not be asked for, or that have no price in
             *     this currency there, are not in it.
             */
            share: number;
            /**
             * Format: double
             * @description The share of its attempts in this time that were answered; absent: none were made.
             */
            success?: number | null;
            /** @description The upstream. */
            upstream_id: components["schemas"]["UpstreamId"];
        };
        /** @description A member with its state. */
        MemberView: components["schemas"]["Member_UpstreamId"] & {
            /** @description How the upstream is, in one word. */
            condition: components["schemas"]["Condition"];
            /** @description How the upstream is, in full. */
            health: components["schemas"]["UpstreamHealth"];
            /** @description The upstream's name. */
            name: components["schemas"]["Name"];
            /** @description The upstream is switched on. */
            upstream_enabled: boolean;
        };
        /** @description An upstream in a group. `R` is how the upstream is named: by id inside, by name in files. */
        Member_UpstreamId: {
            /** @description Switched on in this group. */
            enabled?: boolean;
            /**
             * Format: int64
             * @description Largest estimated prompt in tokens.
             */
            max_input?: number | null;
            /**
             * Format: int64
             * @description Smallest estimated prompt in tokens.
             */
            min_input?: number | null;
            /**
             * Format: int32
             * @description Smaller first.
             */
            priority?: number;
            /**
             * Format: int64
             * @description An upstream, for ever: renaming keeps it, deleting and making anew does not.
             */
            upstream: number;
            /**
             * Format: int32
             * @description Share within its tier, at least 1.
             */
            weight?: number;
        };
        /** @description One model of an upstream. */
        ModelHealth: {
            /** @description The name it is asked for in its place, because that works. */
            asked_as?: string | null;
            /** @description A second look, after the first exclusion had ended, found the same: a person should know. */
            confirmed: boolean;
            /**
             * Format: int64
             * @description For how many milliseconds more it is not asked for; 0 when the re-test is due.
             */
            excluded_ms?: number | null;
            /** @description Its name at the upstream. */
            model: string;
            /**
             * Format: double
             * @description Median of the last measured times to first token, in milliseconds.
             */
            ttft_ms?: number | null;
        };
        /** @description Which models an upstream may be asked for, and under which names it knows them. */
        ModelRules: {
            /** @description Names or patterns; absent or empty: any. */
            allow?: string[];
            /** @description Name asked → name sent. A `*` in the target stands for what the `*` of the pattern matched. */
            map?: {
                [key: string]: string;
            };
        };
        /** @description The tokens of one model. */
        ModelTokens: {
            /** @description The vocabulary that the text was counted with; absent: it is estimated by length. */
            counted_with?: string | null;
            /**
             * @description What it may be off for the way of counting alone, as a share.
             * @example 0.1
             */
            error: string;
            /**
             * @description Reported ÷ observed: 1 is honest. Reasoning that is neither shown nor reported apart makes it larger.
             * @example 1.02
             */
            inflation: string;
            /** @description The model, by the name the upstream was asked for. */
            model: string;
            /**
             * Format: int64
             * @description Output tokens observed.
             */
            observed: number;
            /**
             * Format: int64
             * @description Output tokens reported, without reasoning that was reported apart.
             */
            reported: number;
            /**
             * Format: int64
             * @description Whole answers with usage.
             */
            requests: number;
        };
        /** @description Real traffic of one upstream and model in 24 hours, without what was nobody's fault. */
        ModelTraffic: {
            /** @description The name sent to it. */
            model: string;
            /**
             * Format: int64
             * @description Attempts that succeeded.
             */
            ok: number;
            /**
             * Format: int64
             * @description Attempts.
             */
            total: number;
            /**
             * Format: int64
             * @description Median milliseconds to the first output.
             */
            ttft_ms?: number | null;
            /** @description The upstream. */
            upstream_id: components["schemas"]["UpstreamId"];
        };
        /** @description The models of an upstream. */
        ModelsView: {
            /** @description Their ids, as the upstream lists them. */
            models: string[];
        };
        /** @description An amount of a currency. */
        Money: {
            /**
             * @description How much of it.
             * @example 0.0105
             */
            amount: string;
            /** @description The currency. */
            currency: components["schemas"]["Currency"];
        };
        /**
         * Format: int64
         * @description A monitor.
         */
        MonitorId: number;
        /** @description An active probe of one upstream and model. `R` is how the upstream is named. */
        MonitorSpec_UpstreamId: {
            /** @description Switched on. */
            enabled?: boolean;
            /** @description The route, or `auto`: that of the upstream's protocol. */
            endpoint?: string;
            /** @description Time between two probes. */
            interval?: components["schemas"]["Span"];
            /**
             * Format: int32
             * @description Output limit.
             */
            max_tokens?: number;
            /** @description The prompt. */
            message?: string;
            /** @description The model asked for. */
            model: string;
            /** @description Whether the answer is streamed. */
            stream?: boolean;
            /**
             * Format: int64
             * @description An upstream, for ever: renaming keeps it, deleting and making anew does not.
             */
            upstream: number;
        };
        /** @description A monitor, with what it found. */
        MonitorView: components["schemas"]["MonitorSpec_UpstreamId"] & {
            /** @description Whether both the monitor and its upstream are switched on. */
            active: boolean;
            /** @description How the upstream is, in one word. */
            condition: components["schemas"]["Condition"];
            /** @description How the upstream is, of its models only the one that is probed. */
            health: components["schemas"]["UpstreamHealth"];
            /** @description Identity. */
            id: components["schemas"]["MonitorId"];
            /** @description The revision that last changed it; a change has to name it. */
            revision: components["schemas"]["Revision"];
            strip?: components["schemas"]["ProbeStrip"] | null;
            /** @description Its main tag, by which cards are put together. */
            tag?: string | null;
            traffic?: components["schemas"]["ModelTraffic"] | null;
            /** @description The upstream's name. */
            upstream_name: components["schemas"]["Name"];
        };
        /** @description A multiplier, from when it was seen or set. */
        MultiplierStep: {
            /**
             * Format: date-time
             * @description When it was first seen, or set.
             */
            at: string;
            /** @description Who, as far as it is known; also of who took back what was set before. */
            author?: string | null;
            /** @description A person set it. */
            by_hand: boolean;
            /** @description How much; absent: what was set by hand was taken back, and none was stated. */
            multiplier?: string | null;
        };
        /** @description A name of an upstream, group or key: 1–64 characters, unique per kind without regard to case. */
        Name: string;
        /**
         * @description One thing that had to be done to a name to find it.
         * @enum {string}
         */
        NameStep: "case" | "punctuation" | "context_mark" | "models_prefix" | "vendor_prefix" | "region_prefix" | "build" | "variant" | "date" | "latest" | "thinking" | "effort" | "date_added" | "vendor_added";
        /** @description An object with its name at the time. */
        Named: {
            /**
             * Format: int64
             * @description Its identity.
             */
            id: number;
            /** @description Its name. */
            name: string;
        };
        /** @description A model by the name its upstream knows. */
        NamedModel: {
            /** @description At most 256 characters. */
            model: string;
        };
        /** @description A key that was made: the only time its secret is told. */
        NewKey: {
            /** @description Its name. */
            name: string;
            /** @description The key. */
            secret: string;
        };
        /** @description Monitors to make: one for each model. */
        NewMonitors: {
            /** @description Fields of the configuration file that all of them get, such as `interval` and `message`. */
            fields?: Record<string, never>;
            /** @description The models; those that are monitored already are left as they are. */
            models: string[];
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
        };
        /**
         * @description What happens when a tier is full.
         * @enum {string}
         */
        OnSaturation: "overflow" | "wait";
        /** @description Values that occur, in order, bounded. */
        Options: {
            /** @description Client programs. */
            clients: string[];
            /** @description Error kinds. */
            error_kinds: string[];
            /** @description Models asked for. */
            models: string[];
        };
        /**
         * @description How a request or attempt ended.
         * @enum {string}
         */
        Outcome: "success" | "failed" | "canceled" | "partial" | "client_error" | "unsupported" | "unavailable";
        /** @description An own price. */
        Override: {
            /** @description Currency of the rates. */
            currency?: components["schemas"]["Currency"];
            /**
             * Format: date-time
             * @description From when on; absent: from now on.
             */
            from?: string | null;
            /** @description A model's name as it is sent to an upstream, or a pattern with `*`. */
            model: string;
            /** @description What it costs; what is left out has no price. */
            rates: components["schemas"]["Rate"][];
            upstream?: components["schemas"]["UpstreamId"] | null;
        };
        /** @description Everything at a glance. */
        Overview: {
            /** @description Address listened on. */
            address: string;
            day?: components["schemas"]["Stats"] | null;
            /** @description What should be known, most severe first. */
            findings: components["schemas"]["Finding"][];
            /** @description The groups. */
            groups: components["schemas"]["Lane"][];
            /**
             * Format: int64
             * @description Requests now in flight.
             */
            in_flight: number;
            /** @description Turns of health in the last 24 hours, newest first, and how what lasts longer began. */
            incidents: components["schemas"]["Incident"][];
            /**
             * Format: double
             * @description Median of the gateway's own time before the first attempt over the last minute, in microseconds.
             */
            overhead_us?: number | null;
            /**
             * Format: int64
             * @description Requests of the last minute; absent while the database is away.
             */
            requests_per_minute?: number | null;
            spent_today?: components["schemas"]["Spend"] | null;
            spent_yesterday?: components["schemas"]["Spend"] | null;
            /** @description The word. */
            status: components["schemas"]["Standing"];
        };
        /** @description The traffic for one model, as a sum is made of it. */
        PartElsewhere: components["schemas"]["Priced"] & {
            /**
             * Format: int64
             * @description Priced calls.
             */
            attempts: number;
            /** @description The model asked for. */
            model?: string | null;
            /** @description The list's name of the price that holds there now, or the own rule's pattern; absent: none does. */
            price?: string | null;
            /** @description By which name the upstream is asked for it. */
            sent?: string | null;
            /** @description Its name. */
            upstream?: string | null;
            upstream_id?: components["schemas"]["UpstreamId"] | null;
        };
        /** @description Whether requests are taken. */
        Pause: {
            /** @description New requests are refused. */
            paused: boolean;
        };
        /** @description A stretch of a time series. */
        Point: {
            /**
             * Format: date-time
             * @description Where it begins.
             */
            at: string;
            /**
             * Format: int64
             * @description Those of them that failed or broke off.
             */
            failed: number;
            /**
             * Format: double
             * @description Median of the time to the first output in milliseconds, within 5 %; none without one.
             */
            p50_ttft_ms?: number | null;
            /**
             * Format: int64
             * @description Requests that arrived.
             */
            requests: number;
            /**
             * Format: int64
             * @description Their output tokens.
             */
            tokens_output: number;
        };
        /** @description How fetching the list went. */
        PriceState: {
            /**
             * Format: date-time
             * @description When it was last tried.
             */
            checked_at?: string | null;
            /** @description Why the last try failed; the list from before stays in force. */
            error?: string | null;
            /**
             * Format: date-time
             * @description When it last worked.
             */
            succeeded_at?: string | null;
        };
        /** @description Money at list price and charged. */
        Priced: {
            /** @description Times multiplier ÷ credit ratio of now; an unknown one counts as 1. */
            charged: string;
            /** @description At list price. */
            list: string;
            /** @description The multiplier of at least one upstream is not known. */
            multiplier_unknown: boolean;
        };
        /** @description The prices in force. */
        PricesView: {
            /** @description It is the one that came with the program. */
            embedded: boolean;
            /** @description Models whose names contain `q`, at most 50. */
            items: components["schemas"]["Listed"][];
            matched?: components["schemas"]["Matched"] | null;
            /** @description Models in it. */
            models: number;
            /** @description Own prices, which win over the list. */
            overrides: components["schemas"]["Rule"][];
            state?: components["schemas"]["PriceState"] | null;
            /** @description Where lists are fetched from; absent: nowhere. */
            url?: string | null;
            /** @description Which list. */
            version: components["schemas"]["Version"];
        };
        /** @description A quarter of an hour of one monitor. */
        ProbeCell: {
            /**
             * Format: date-time
             * @description When it begins.
             */
            at: string;
            /**
             * Format: int64
             * @description Probes that ended in a whole answer.
             */
            ok: number;
            /**
             * Format: int64
             * @description Probes.
             */
            total: number;
        };
        /** @description One active probe, as it ended. Field names are those of the columns of `headgate.probes`. */
        ProbeRecord: {
            /**
             * Format: date-time
             * @description When it began.
             */
            at: string;
            /** @description `ok`, or the class of the failure. */
            class: string;
            /**
             * Format: int64
             * @description Milliseconds altogether.
             */
            duration_ms: number;
            /** @description A sentence about a failure, at most 500 bytes. */
            error_text?: string | null;
            /** @description The model asked for. */
            model: string;
            /** @description The monitor. */
            monitor_id: components["schemas"]["MonitorId"];
            /**
             * Format: int32
             * @description HTTP status; none when none came.
             */
            status?: number | null;
            /**
             * Format: int64
             * @description Milliseconds to the first output (streams).
             */
            ttft_ms?: number | null;
            /** @description The upstream probed. */
            upstream_id: components["schemas"]["UpstreamId"];
        };
        /** @description What is known of one monitor. */
        ProbeStrip: {
            /** @description Quarters of an hour in which there was a probe, oldest first. */
            cells: components["schemas"]["ProbeCell"][];
            /**
             * Format: int64
             * @description Median milliseconds of those that were answered.
             */
            duration_ms?: number | null;
            /** @description The newest probe. */
            last: components["schemas"]["ProbeRecord"];
            /** @description The monitor. */
            monitor_id: components["schemas"]["MonitorId"];
            /**
             * Format: int64
             * @description Probes of the last 24 hours that ended in a whole answer.
             */
            ok: number;
            /**
             * Format: int64
             * @description Probes of the last 24 hours.
             */
            total: number;
            /**
             * Format: int64
             * @description Their median milliseconds to the first output.
             */
            ttft_ms?: number | null;
        };
        /** @description Something wrong in a file or in a configuration: where, and a sentence with the remedy. */
        Problem: {
            /** @description What is wrong and what to do. */
            message: string;
            /** @description `upstreams[0].base_url`, or `upstreams[relay-a].base_url` once names are known. */
            path: string;
        };
        /** @description What differs between upstreams of one kind: a named base and overrides of single keys (`docs/configuration.md`). */
        ProfileSpec: {
            /** @default null */
            anthropic_version: string | null;
            /** @default null */
            auto_cache: boolean | null;
            /** @default null */
            base: string | null;
            /** @default null */
            custom_tools: boolean | null;
            /** @default null */
            default_effort: string | null;
            /**
             * Format: int32
             * @default null
             */
            default_max_tokens: number | null;
            /** @default null */
            developer_role: boolean | null;
            /** @default null */
            efforts: string[] | null;
            /** @default null */
            forced_tool_stops_thinking: boolean | null;
            /** @default null */
            max_tokens_field: string | null;
            /** @default null */
            mid_system: boolean | null;
            /** @default null */
            replay_reasoning: string | null;
            /** @default null */
            sampling: boolean | null;
            /** @default null */
            schema_rules: string | null;
            /** @default null */
            single_system: boolean | null;
            /** @default null */
            structured_output: boolean | null;
            /** @default null */
            think_tags: boolean | null;
            /** @default null */
            thinking: components["schemas"]["Thinking"] | null;
            /** @default null */
            usage_chunk: boolean | null;
            /** @default null */
            verbosity: boolean | null;
        };
        /**
         * @description A protocol on the wire, as a client speaks it.
         * @enum {string}
         */
        Protocol: "chat" | "responses" | "claude";
        /** @description The bounded queue of a group. */
        Queue: {
            /**
             * Format: int32
             * @description Requests that may wait.
             * @default 256
             */
            size: number;
            /**
             * @description How long one may wait.
             * @default 1m
             */
            wait: components["schemas"]["Span"];
        };
        /** @description Which records to price anew. */
        Range: {
            /**
             * Format: date-time
             * @description Requests that started at this time or later.
             */
            since: string;
            /**
             * Format: date-time
             * @description Requests that started before this time; absent: now.
             */
            until?: string | null;
        };
        /** @description One price. */
        Rate: {
            /**
             * Format: int32
             * @description For requests with more input tokens than this.
             */
            above?: number;
            /**
             * @description Of what.
             * @example input
             */
            part: string;
            /**
             * @description Per million tokens, or per piece.
             * @example 3.75
             */
            price: string;
            /**
             * @description For which service.
             * @example standard
             */
            service?: string;
        };
        /** @description What became of one member. */
        Reason: {
            /** @enum {string} */
            reason: "disabled";
        } | {
            /** @enum {string} */
            reason: "policy";
        } | {
            /** @enum {string} */
            reason: "model_missing";
        } | {
            /** @description The first such capability. */
            missing: components["schemas"]["Capability"];
            /** @enum {string} */
            reason: "capability";
        } | {
            /** @enum {string} */
            reason: "context";
        } | {
            /** @enum {string} */
            reason: "size";
        } | {
            /** @enum {string} */
            reason: "untranslatable";
        } | {
            /** @enum {string} */
            reason: "over_cap";
        } | {
            /**
             * Format: int64
             * @description Milliseconds until it is looked at again; absent when unknown.
             */
            ms?: number | null;
            /** @enum {string} */
            reason: "exhausted";
        } | {
            /** @description Why. */
            class: components["schemas"]["Class"];
            /**
             * Format: int64
             * @description For how many milliseconds; absent when without end.
             */
            ms?: number | null;
            /** @enum {string} */
            reason: "cooling_down";
        } | {
            /** @enum {string} */
            reason: "saturated";
        } | {
            /** @enum {string} */
            reason: "tried";
        } | {
            /** @enum {string} */
            reason: "chosen";
        } | {
            /** @enum {string} */
            reason: "lower_tier";
        } | {
            /**
             * Format: int32
             * @description By so many percent.
             */
            percent: number;
            /** @enum {string} */
            reason: "dearer";
        } | {
            /** @enum {string} */
            reason: "not_drawn";
        };
        /** @description Money in one currency. */
        ReplayAmount: {
            /** @description Times multiplier ÷ credit ratio as they are now; an unknown one counts as 1. */
            charged: string;
            /** @description At list prices. */
            list: string;
        };
        /** @description What became of the requests. */
        ReplayFigures: {
            /**
             * Format: int64
             * @description Answered by a later one.
             */
            after_failover: number;
            /** @description Attempts, by what their ends are known from. */
            basis: {
                [key: string]: number;
            };
            /** @description What the answers cost, by currency. */
            cost: {
                [key: string]: components["schemas"]["ReplayAmount"];
            };
            /**
             * Format: int64
             * @description Answered by the first upstream asked.
             */
            direct: number;
            /** @description Failed, or broke off, before the client's eyes: by class or code. */
            failed: {
                [key: string]: number;
            };
            first_output_ms?: components["schemas"]["FirstOutput"] | null;
            /**
             * Format: int64
             * @description Requests that somebody else answered than the last time.
             */
            moved: number;
            /**
             * Format: int64
             * @description Answers at upstreams whose multiplier is not known.
             */
            multiplier_unknown: number;
            /**
             * Format: int64
             * @description Requests.
             */
            requests: number;
            /**
             * Format: int64
             * @description Answers that no price was found for.
             */
            unpriced: number;
            /** @description By upstream. */
            upstreams: {
                [key: string]: components["schemas"]["ReplayShare"];
            };
        };
        /** @description What one upstream had of it. */
        ReplayShare: {
            /**
             * Format: int64
             * @description Attempts.
             */
            attempts: number;
            /** @description What those cost, by currency. */
            cost: {
                [key: string]: components["schemas"]["ReplayAmount"];
            };
            /**
             * Format: int64
             * @description Those that failed or broke off.
             */
            failed: number;
            /**
             * Format: int64
             * @description Requests that it answered.
             */
            served: number;
        };
        /** @description What pricing anew did. */
        Repricing: {
            /**
             * Format: int64
             * @description Attempts looked at.
             */
            attempts: number;
            /**
             * Format: int64
             * @description Those of them whose cost changed.
             */
            changed: number;
            /** @description The list by which. */
            price_version: string;
        };
        /** @description What a request cost: the sum of its attempts. */
        RequestCost: {
            /**
             * @description The amount; a lower bound or an estimate unless it is complete.
             * @example 0.0105
             */
            cost?: string | null;
            /** @description Whether every attempt that may have been charged for is priced in full; absent where there was none. */
            cost_complete?: boolean | null;
            /** @description Its currency. */
            cost_currency?: string | null;
        };
        /** @description One client request. */
        RequestRecord: components["schemas"]["UsageColumns"] & components["schemas"]["RequestCost"] & {
            /** @description The affinity key, hashed. */
            affinity_key?: string | null;
            /**
             * Format: int32
             * @description Attempts made.
             */
            attempt_count: number;
            /** @description The client program, as far as it is known (`codex`, `claude-code`, …). */
            client?: string | null;
            /** @description Peer address. */
            client_ip?: string | null;
            /**
             * Format: date-time
             * @description When its last byte was sent.
             */
            completed_at: string;
            /**
             * Format: int64
             * @description Milliseconds from the head's arrival to the last byte.
             */
            duration_ms: number;
            /** @description The path called, without query. */
            endpoint: string;
            /** @description Class and detail of the failure. */
            error_kind?: string | null;
            error_source?: components["schemas"]["ErrorSource"] | null;
            /** @description A sentence, at most 500 bytes. */
            error_text?: string | null;
            /**
             * Format: int64
             * @description Estimated prompt tokens (UTF-8 bytes of text ÷ 4).
             */
            estimated_input?: number | null;
            /** @description What it used beyond text, if anything. */
            features?: components["schemas"]["Capability"][] | null;
            group_id?: components["schemas"]["GroupId"] | null;
            /** @description Its name at the time. */
            group_name?: string | null;
            /**
             * Format: uuid
             * @description Identity, UUIDv7.
             */
            id: string;
            key_id?: components["schemas"]["KeyId"] | null;
            /** @description Its name at the time. */
            key_name?: string | null;
            /** @description The last event seen, at most 80 bytes. */
            last_event?: string | null;
            /** @description The model asked for, as the client wrote it. */
            model?: string | null;
            /** @description How it ended. */
            outcome: components["schemas"]["Outcome"];
            /**
             * Format: int64
             * @description Microseconds of `duration_ms` that were not spent waiting for an upstream, until the first attempt was sent.
             */
            overhead_us?: number | null;
            protocol?: components["schemas"]["Protocol"] | null;
            /** @description Per candidate, why it was chosen or stopped, compactly. */
            reasons: Record<string, never>;
            /** @description The region asked for. */
            region?: string | null;
            /**
             * Format: int64
             * @description Size of the client's body, decoded.
             */
            request_bytes: number;
            /**
             * Format: int64
             * @description Bytes of body sent to the client.
             */
            response_bytes: number;
            /** @description The configuration revision used. */
            revision: components["schemas"]["Revision"];
            /**
             * Format: date-time
             * @description When the request's head had arrived.
             */
            started_at: string;
            /**
             * Format: int32
             * @description HTTP status sent; 499 when the client left before one was.
             */
            status: number;
            /** @description Whether a stream was asked for. */
            stream: boolean;
            /** @description Whether the completion event was seen. */
            stream_completed: boolean;
            /**
             * Format: int64
             * @description Milliseconds to the first output.
             */
            ttft_ms?: number | null;
            upstream_id?: components["schemas"]["UpstreamId"] | null;
            /** @description Its name at the time. */
            upstream_name?: string | null;
            /** @description The upstream's own request id. */
            upstream_request_id?: string | null;
            /** @description At most 512 characters. */
            user_agent?: string | null;
            /** @description Codes of what translation dropped or changed. */
            warnings: string[];
        };
        /**
         * Format: int64
         * @description A numbered state of the configuration; 0 is the empty one before the first change.
         */
        Revision: number;
        /** @description A revision without its document. */
        RevisionRecord: {
            /** @description Who made it. */
            author: string;
            /**
             * Format: date-time
             * @description When.
             */
            created_at: string;
            /** @description Its number. */
            id: components["schemas"]["Revision"];
            /** @description What was changed, in a sentence. */
            summary: string;
        };
        /** @description What rolling back did. */
        RolledBack: {
            /** @description What is different from before. */
            changes: components["schemas"]["Change"][];
            /** @description The new revision. */
            revision: components["schemas"]["Revision"];
        };
        /** @description An attempt in short. */
        RouteStep: {
            /** @description Class and detail of the failure. */
            error_kind?: string | null;
            /**
             * Format: int32
             * @description 1, 2, 3 …
             */
            number: number;
            /** @description How it ended. */
            outcome: components["schemas"]["Outcome"];
            /**
             * Format: int32
             * @description HTTP status of the upstream.
             */
            status?: number | null;
            /** @description Upstream. */
            upstream_id: components["schemas"]["UpstreamId"];
            /** @description Its name at the time. */
            upstream_name: string;
        };
        /** @description A price that somebody set. It stands alone: what it leaves out has no price. */
        Rule: components["schemas"]["Entry"] & {
            /**
             * Format: date-time
             * @description From when on.
             */
            from: string;
            /**
             * Format: int64
             * @description Identity.
             */
            id: number;
            /** @description A model's name, or a pattern with `*`. */
            model: string;
            /**
             * Format: int64
             * @description For this upstream only.
             */
            upstream?: number | null;
        };
        /** @description What a change of a target did. */
        SavedAlert: {
            /** @description The target. */
            id: components["schemas"]["AlertId"];
            /** @description The revision in force afterwards. */
            revision: components["schemas"]["Revision"];
        };
        /** @description What saving did. */
        SavedView: {
            /**
             * Format: int64
             * @description Identity.
             */
            id: number;
            new_key?: components["schemas"]["NewKey"] | null;
            /** @description The revision in force afterwards. */
            revision: components["schemas"]["Revision"];
        };
        /**
         * @description Why a candidate was chosen.
         * @enum {string}
         */
        Selection: "initial" | "failover" | "credential" | "retry" | "affinity" | "recovery_trial" | "last_resort";
        /** @description The same sentence in both languages. */
        Sentence: {
            /** @description English. */
            en: string;
            /** @description 简体中文. */
            zh: string;
        };
        /** @description The last day. */
        Series: {
            /** @description The stretches, oldest first, without gaps; the last is the one under way. */
            points: components["schemas"]["Point"][];
            /**
             * Format: int64
             * @description Length of a stretch in milliseconds.
             */
            step_ms: number;
        };
        /**
         * @description How urgently an answer was given, as the upstream says; prices depend on it.
         * @enum {string}
         */
        ServiceTier: "standard" | "batch" | "flex" | "priority";
        /** @description A session. */
        SessionView: {
            /**
             * Format: date-time
             * @description When it ends.
             */
            expires_at: string;
            /** @description To be sent as `authorization: Bearer`. */
            token: string;
        };
        /** @description Every setting with its effective value. */
        Settings: {
            /**
             * @description Tightens the first-response limit from what was observed.
             * @default true
             */
            adaptive_timeout: boolean;
            /**
             * @description Keeps a session on its upstream.
             * @default true
             */
            affinity: boolean;
            /**
             * Format: int32
             * @description Sessions remembered.
             * @default 8192
             */
            affinity_max: number;
            /**
             * @description How long a session is remembered.
             * @default 6h
             */
            affinity_ttl: components["schemas"]["Span"];
            /**
             * @description Quiet time between two alerts of one kind.
             * @default 1m
             */
            alert_debounce: components["schemas"]["Span"];
            /**
             * @description Host names accepted besides loopback names.
             * @default []
             */
            allowed_hosts: string[];
            /**
             * @description Origins accepted besides our own.
             * @default []
             */
            allowed_origins: string[];
            /**
             * @description How long billing snapshots are kept; 0 is for ever.
             * @default 30d
             */
            billing_retention: components["schemas"]["Span"];
            /**
             * @description Largest client body.
             * @default 64MiB
             */
            body_limit: components["schemas"]["Size"];
            /**
             * Format: double
             * @description Share of failures in the window that opens a breaker.
             * @default 0.5
             */
            breaker_error_rate: number;
            /**
             * Format: int32
             * @description Failures in a row that open a breaker.
             * @default 3
             */
            breaker_failures: number;
            /**
             * Format: int32
             * @description Results in the window before the rate counts.
             * @default 10
             */
            breaker_min_results: number;
            /**
             * @description How long a breaker stays open the first time.
             * @default 30s
             */
            breaker_open: components["schemas"]["Span"];
            /**
             * @description How long a breaker stays open at the most.
             * @default 5m
             */
            breaker_open_max: components["schemas"]["Span"];
            /**
             * Format: int32
             * @description Successes in a row that close a half-open breaker.
             * @default 2
             */
            breaker_recovery_successes: number;
            /**
             * @description Window of the breaker's error rate.
             * @default 5m
             */
            breaker_window: components["schemas"]["Span"];
            /**
             * @description Limit for DNS, TCP, TLS and proxy together.
             * @default 10s
             */
            connect_timeout: components["schemas"]["Span"];
            /**
             * @description Largest single stream event.
             * @default 16MiB
             */
            event_limit: components["schemas"]["Size"];
            /** @default null */
            fetch_proxy: components["schemas"]["MaskedUrl"] | null;
            /**
             * @description Limit until the first work of a stream.
             * @default 2m
             */
            first_response_timeout: components["schemas"]["Span"];
            /**
             * @description Silence after which a translated stream gets a keep-alive.
             * @default 15s
             */
            keep_alive: components["schemas"]["Span"];
            /**
             * Format: int32
             * @description Candidates tried for one request.
             * @default 3
             */
            max_attempts: number;
            /**
             * @description Limit of a whole answer that is not streamed.
             * @default 10m
             */
            non_stream_timeout: components["schemas"]["Span"];
            /**
             * @description Where a published price list is fetched from once a day; absent: the one that came with the program is used.
             * @default null
             */
            prices_url: string | null;
            /**
             * @description How long probe results are kept; 0 is for ever.
             * @default 30d
             */
            probe_retention: components["schemas"]["Span"];
            /**
             * @description How long requests are kept; 0 is for ever.
             * @default 7d
             */
            request_retention: components["schemas"]["Span"];
            /**
             * @description The longest wait that is told to a client as `Retry-After`.
             * @default 1m
             */
            retry_after_max: components["schemas"]["Span"];
            /**
             * Format: double
             * @description Repeats as a share of requests over 10 s.
             * @default 0.2
             */
            retry_budget: number;
            /**
             * Format: int32
             * @description Repeats on the same candidate.
             * @default 0
             */
            retry_same: number;
            /**
             * @description Limit of silence inside a stream.
             * @default 5m
             */
            stream_idle_timeout: components["schemas"]["Span"];
            /**
             * @description IANA name that defines today, day and month; absent until the first start has written the machine's.
             * @default null
             */
            time_zone: string | null;
        };
        /** @description A change of settings. */
        SettingsChange: {
            /** @description The revision of the settings it was made from. */
            revision: components["schemas"]["Revision"];
            /** @description New values by name; `null` goes back to the default. */
            values: Record<string, never>;
        };
        /** @description Every setting. */
        SettingsView: {
            /** @description The defaults. */
            defaults: components["schemas"]["Settings"];
            /** @description The revision that last changed one; a change has to name it. */
            revision: components["schemas"]["Revision"];
            /** @description Names that are set; all others have their defaults. */
            set: string[];
            /** @description Effective values. */
            values: components["schemas"]["Settings"];
        };
        /**
         * @description How bad a finding is.
         * @enum {string}
         */
        Severity: "down" | "degraded" | "info";
        /** @description The admin token. */
        SignIn: {
            /** @description What the file admin-token of the data directory holds. */
            token: string;
        };
        /**
         * @description A size in bytes, written `64MiB`, `512KiB` or as a number of bytes.
         * @example 64MiB
         */
        Size: string;
        /**
         * @description A duration that is written and read as text (`10s`, `1h 30m`, `500ms`).
         * @example 10s
         */
        Span: string;
        /** @description What was spent in a time. */
        Spend: {
            /**
             * Format: int64
             * @description Requests that may have been charged for.
             */
            charged: number;
            /** @description By currency. */
            costs: components["schemas"]["Amount"][];
            /**
             * Format: int64
             * @description Those of them that are priced in full.
             */
            priced: number;
        };
        /**
         * @description What spending is told by.
         * @enum {string}
         */
        SpendBy: "model" | "key" | "group" | "upstream";
        /** @description A line of the chart. */
        SpendLine: {
            /** @description An amount for each of `points`. */
            amounts: string[];
            /** @description Its currency. */
            currency: string;
            /** @description Its place in `rows`; absent for all the others together. */
            row?: number | null;
        };
        /** @description A part of a total. */
        SpendPart: {
            /** @description The amount. */
            amount: string;
            /** @description The currency. */
            currency: string;
            /**
             * Format: double
             * @description Of the total in this currency, 0 to 1.
             */
            share: number;
        };
        /** @description What was spent on one model, key, group or upstream. */
        SpendRow: {
            /**
             * Format: int64
             * @description Attempts.
             */
            attempts: number;
            /**
             * Format: int64
             * @description Those that may have been charged for.
             */
            charged: number;
            /** @description What it cost. */
            costs: components["schemas"]["SpendPart"][];
            /** @description Whether it is configured now. Models always are. */
            exists: boolean;
            /**
             * Format: int64
             * @description The key, group or upstream; absent for models, and where there was none.
             */
            id?: number | null;
            /** @description Its name, or the model; absent where none was named. */
            name?: string | null;
            /**
             * Format: int64
             * @description Those of them that are priced in full.
             */
            priced: number;
            /**
             * Format: int64
             * @description Input tokens of any kind.
             */
            tokens_input: number;
            /**
             * Format: int64
             * @description Output tokens.
             */
            tokens_output: number;
            /**
             * Format: int64
             * @description Those of them that were read from a cache.
             */
            tokens_read: number;
        };
        /** @description A sum in one currency. */
        SpendTotal: {
            /** @description The sum. */
            amount: string;
            /** @description That of the time before, equally long. */
            before?: string | null;
            /** @description The currency. */
            currency: string;
        };
        /** @description What was spent. */
        Spent: {
            /**
             * Format: int64
             * @description Attempts.
             */
            attempts: number;
            /**
             * Format: date-time
             * @description Where the time before, equally long, begins.
             */
            before_from: string;
            /** @description By what the rows are. */
            by: components["schemas"]["SpendBy"];
            /**
             * Format: int64
             * @description Those that may have been charged for.
             */
            charged: number;
            /**
             * Format: date-time
             * @description The time: from this moment on.
             */
            from: string;
            /** @description The five rows that cost most in a currency, and all the others together. */
            lines: components["schemas"]["SpendLine"][];
            /** @description Rows left out. */
            more: number;
            /** @description Where the stretches begin. */
            points: string[];
            /**
             * Format: int64
             * @description Those of them that are priced in full.
             */
            priced: number;
            /** @description What it was spent on, most first, at most a hundred. */
            rows: components["schemas"]["SpendRow"][];
            /**
             * Format: int64
             * @description Length of a stretch in milliseconds.
             */
            step_ms: number;
            /**
             * Format: date-time
             * @description Before this moment.
             */
            to: string;
            /** @description The sums; the currency of most attempts first. */
            totals: components["schemas"]["SpendTotal"][];
        };
        /** @description A protocol that was tried. */
        Spoken: {
            /** @description A whole answer came; else what came only shows that the protocol is known there. */
            answered: boolean;
            class?: components["schemas"]["Class"] | null;
            /** @description A sentence about the failure. */
            error?: string | null;
            /** @description The model asked. */
            model: string;
            /** @description It is spoken there. */
            ok: boolean;
            /** @description Which. */
            protocol: components["schemas"]["Protocol"];
            /**
             * Format: int32
             * @description HTTP status.
             */
            status?: number | null;
            /**
             * Format: int64
             * @description Milliseconds to the first output.
             */
            ttft_ms?: number | null;
        };
        /**
         * @description The state of the whole in one word.
         * @enum {string}
         */
        Standing: "healthy" | "degraded" | "down" | "stopped";
        /**
         * @description The word.
         * @enum {string}
         */
        State: "healthy" | "cooling" | "trying" | "down" | "over_cap" | "off";
        /** @description Figures over the requests that pass a filter. `direct_success` to `client_error` add up to `total`. */
        Stats: {
            /** @description The attempts that they made; where a request is looked for by its upstream, those at it. */
            calls: components["schemas"]["Calls"];
            /**
             * Format: int64
             * @description The client left.
             */
            canceled: number;
            /**
             * Format: int64
             * @description How many may have been charged for.
             */
            charged: number;
            /**
             * Format: int64
             * @description Refused for what they are.
             */
            client_error: number;
            compared?: components["schemas"]["ComparedOutput"] | null;
            /** @description What they cost, by currency; where a request is looked for by its upstream, what that upstream's attempts cost. */
            costs: components["schemas"]["Amount"][];
            /**
             * Format: int64
             * @description Success with one attempt.
             */
            direct_success: number;
            /**
             * Format: int64
             * @description Failed, nobody there, or nobody able.
             */
            failed: number;
            /**
             * Format: int64
             * @description Success after more.
             */
            failover_success: number;
            /**
             * Format: double
             * @description Median of the duration in milliseconds.
             */
            p50_duration_ms?: number | null;
            /**
             * Format: double
             * @description Median of the time to the first output, in milliseconds, over those that have one. These four are within 5 %
             *     where they are read from sums, and of a sample where there are more than 100,000 requests otherwise.
             */
            p50_ttft_ms?: number | null;
            /**
             * Format: double
             * @description Its 95th percentile.
             */
            p95_duration_ms?: number | null;
            /**
             * Format: double
             * @description Its 95th percentile.
             */
            p95_ttft_ms?: number | null;
            /**
             * Format: int64
             * @description Broken off.
             */
            partial: number;
            /**
             * Format: int64
             * @description How many of those are priced in full. Where it is fewer, the amounts are lower bounds or estimates.
             */
            priced: number;
            /**
             * Format: int64
             * @description With more than one attempt, however they ended.
             */
            retried: number;
            /**
             * Format: double
             * @description Both successes ÷ total; none without requests.
             */
            success_rate?: number | null;
            /**
             * Format: int64
             * @description Input tokens neither read from nor written to a cache.
             */
            tokens_fresh: number;
            /**
             * Format: int64
             * @description Output tokens.
             */
            tokens_output: number;
            /**
             * Format: int64
             * @description Input tokens read from a cache.
             */
            tokens_read: number;
            /**
             * Format: int64
             * @description Reasoning tokens, a part of the output.
             */
            tokens_reasoning: number;
            /**
             * Format: int64
             * @description Input tokens written to a cache, of any life.
             */
            tokens_write: number;
            /**
             * Format: int64
             * @description Requests.
             */
            total: number;
        };
        /** @description How the gateway is doing. */
        Status: {
            /** @description Address listened on. */
            address: string;
            /** @description Session affinity. */
            affinity: components["schemas"]["AffinityStatus"];
            /**
             * Format: int64
             * @description Attempts made since the start.
             */
            attempts_made: number;
            /** @description The database. */
            database: components["schemas"]["DatabaseStatus"];
            /**
             * Format: int64
             * @description Requests now in flight.
             */
            in_flight: number;
            /** @description The journal: what waits, what was lost (which must be nothing). */
            journal: components["schemas"]["JournalStats"];
            /** @description New requests are refused until it is resumed. */
            paused: boolean;
            /**
             * Format: int64
             * @description Requests finished since the start.
             */
            requests_finished: number;
            /** @description Revision in force. */
            revision: components["schemas"]["Revision"];
            /**
             * Format: int64
             * @description Milliseconds since the start.
             */
            uptime_ms: number;
            /** @description The vault. */
            vault: components["schemas"]["VaultStatus"];
            /** @description Program version. */
            version: string;
            /** @description Of those, requests that wait for room in their group. */
            waiting: number;
        };
        /** @description A step of a test. */
        Step: {
            /** @description The model asked for. */
            model: string;
            /** @description The protocol spoken. */
            protocol: components["schemas"]["Protocol"];
            /** @enum {string} */
            type: "started";
            /** @description The URL called (upstreams only). */
            url?: string | null;
        } | {
            /** @description The text. */
            text: string;
            /** @enum {string} */
            type: "content";
        } | {
            /**
             * Format: int32
             * @description Attempts made (groups only).
             */
            attempts?: number | null;
            /**
             * Format: int64
             * @description Milliseconds altogether.
             */
            duration_ms: number;
            /** @description A sentence about it. */
            error?: string | null;
            /** @description Class and detail of a failure, or the gateway's own code. */
            kind?: string | null;
            /** @description A whole answer came. */
            ok: boolean;
            /** @description The request's id, for its record (groups only). */
            request_id?: string | null;
            /**
             * Format: int32
             * @description HTTP status.
             */
            status?: number | null;
            /**
             * Format: int64
             * @description Milliseconds to the first output.
             */
            ttft_ms?: number | null;
            /** @enum {string} */
            type: "finished";
            /** @description The upstream that answered (groups only). */
            upstream?: string | null;
        };
        /**
         * @description How one of several members of a tier is chosen.
         * @enum {string}
         */
        Strategy: "p2c" | "smooth_weighted" | "balanced" | "cheapest" | "spread";
        /** @description What to configure. */
        Suggestion: {
            auth?: components["schemas"]["Auth"] | null;
            /** @description The upstream's `protocol`. */
            protocol: components["schemas"]["UpstreamKind"];
        };
        /** @description A tag. */
        TagView: {
            /** @description Upstreams that carry it as a label. */
            label: number;
            /** @description Upstreams whose main tag it is. */
            main: number;
            /** @description The word. */
            name: string;
        };
        /** @description One main tag and any number of labels. */
        Tags: {
            /**
             * @description Policies of keys may name these.
             * @default []
             */
            labels: string[];
            /**
             * @description Groups upstreams in the window.
             * @default null
             */
            main: string | null;
        };
        /** @description What to ask. */
        TestBody: {
            /**
             * Format: int32
             * @description Output limit; absent: 64.
             * @default null
             */
            max_tokens: number | null;
            /**
             * @description The prompt; absent: a greeting.
             * @default null
             */
            message: string | null;
            /**
             * @description The model; absent: the first one of the upstream's rules or list.
             * @default null
             */
            model: string | null;
            /** @default null */
            protocol: components["schemas"]["Protocol"] | null;
        };
        /**
         * @description How a Claude upstream is asked to think.
         * @enum {string}
         */
        Thinking: "adaptive" | "manual" | "none";
        /** @description Overrides of the settings' timeouts. */
        Timeouts: {
            /** @default null */
            connect: components["schemas"]["Span"] | null;
            /** @default null */
            first_response: components["schemas"]["Span"] | null;
            /** @default null */
            idle: components["schemas"]["Span"] | null;
            /** @default null */
            non_stream: components["schemas"]["Span"] | null;
        };
        /** @description Output that an upstream reported against what passed through. */
        TokenCheck: {
            /**
             * Format: int64
             * @description Attempts of which both are known.
             */
            attempts: number;
            /** @description The model asked for. */
            model?: string | null;
            /**
             * Format: int64
             * @description Output tokens estimated by what passed through.
             */
            observed: number;
            /**
             * Format: double
             * @description Reported ÷ observed; absent where nothing passed.
             */
            ratio?: number | null;
            /**
             * Format: int64
             * @description Output tokens reported.
             */
            reported: number;
            /** @description Its name. */
            upstream?: string | null;
            /** @description The upstream. */
            upstream_id: components["schemas"]["UpstreamId"];
        };
        /** @description Tokens reported against tokens that passed through. */
        TokensView: {
            /** @description By model, those with most answers first. */
            items: components["schemas"]["ModelTokens"][];
            /** @description The upstream. */
            upstream_id: components["schemas"]["UpstreamId"];
            /** @description When. */
            window: components["schemas"]["CostWindow"];
        };
        /**
         * @description What happens to a member whose multiplier is unknown.
         * @enum {string}
         */
        UnknownMultiplier: "allow" | "deny";
        /** @description A model of an upstream without a full price. */
        Unpriced: {
            /**
             * Format: int64
             * @description Attempts that may have been charged for and are not priced in full.
             */
            attempts: number;
            /** @description The model asked for. */
            model?: string | null;
            /** @description The name the upstream was asked for most, where it is another one. */
            sent?: string | null;
            /** @description Its name. */
            upstream?: string | null;
            /** @description The upstream. */
            upstream_id: components["schemas"]["UpstreamId"];
        };
        /** @description A group or an access key with settings that a replay leaves out. */
        Unreplayed: {
            /** @description Its name. */
            name: string;
            /** @description What it is. */
            of: components["schemas"]["UnreplayedOf"];
            /** @description The settings. */
            settings: components["schemas"]["UnreplayedSetting"][];
        };
        /**
         * @description What has such settings.
         * @enum {string}
         */
        UnreplayedOf: "group" | "key";
        /**
         * @description A setting that a replay leaves out.
         * @enum {string}
         */
        UnreplayedSetting: "limits" | "budget" | "queue";
        /** @description An upstream's billing and what was found about it. */
        UpstreamCosts: {
            /** @description What its billing says now. */
            billing: components["schemas"]["BillingView"];
            /** @description Its multipliers of the last seven days, each from when it was seen or set. */
            multipliers: components["schemas"]["MultiplierStep"][];
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /** @description The upstream. */
            upstream_id: components["schemas"]["UpstreamId"];
            /** @description The comparison over the last hour, day and week; absent while it is being made for the first time. */
            windows?: components["schemas"]["WindowView"][] | null;
        };
        /** @description The health of one upstream. */
        UpstreamHealth: {
            cooling?: components["schemas"]["CoolingView"] | null;
            /** @description Credentials that are cooling down. */
            credentials: components["schemas"]["CredentialHealth"][];
            /**
             * Format: int32
             * @description Failures in a row.
             */
            failures: number;
            /**
             * Format: int32
             * @description Requests under way.
             */
            in_flight: number;
            last_failure?: components["schemas"]["Class"] | null;
            /** @description Models with an exclusion or a known latency. */
            models: components["schemas"]["ModelHealth"][];
            /**
             * Format: int64
             * @description Milliseconds until an open breaker admits a trial.
             */
            open_ms?: number | null;
            /**
             * Format: int32
             * @description Openings in a row without a closing between.
             */
            openings: number;
            /**
             * Format: int64
             * @description Results of the last hour that count.
             */
            results: number;
            /** @description Its breaker. */
            state: components["schemas"]["BreakerState"];
            /**
             * Format: int64
             * @description Successes among them.
             */
            successes: number;
            /**
             * Format: double
             * @description Median of the last measured times to first token, in milliseconds.
             */
            ttft_ms?: number | null;
        };
        /**
         * Format: int64
         * @description An upstream, for ever: renaming keeps it, deleting and making anew does not.
         */
        UpstreamId: number;
        /**
         * @description What an upstream speaks: the key `protocol` of the configuration file.
         * @enum {string}
         */
        UpstreamKind: "passthrough" | "openai" | "openai-response" | "claude" | "codex";
        /** @description Everything of an upstream but its identity and credentials. */
        UpstreamSpec: {
            /** @description Permits `http://` beyond loopback. */
            allow_plain_http?: boolean;
            auth?: components["schemas"]["Auth"] | null;
            /** @description Absolute http(s) URL. A last segment of `v` and digits stands for the route's own `/v1`. */
            base_url: string;
            /** @description Billing. */
            billing?: components["schemas"]["Billing"];
            /** @description What it can do; absent: everything. */
            capabilities?: components["schemas"]["Capability"][] | null;
            /** @description Switched on. */
            enabled?: boolean;
            /** @description Headers of its own, sent with every request. */
            headers?: {
                [key: string]: string;
            };
            /** @description Limits. */
            limits?: components["schemas"]["Limits"];
            /**
             * Format: int64
             * @description Longest prompt in tokens.
             */
            max_context?: number | null;
            /** @description Which models, under which names. */
            models?: components["schemas"]["ModelRules"];
            profile?: components["schemas"]["ProfileSpec"] | null;
            /** @description What it speaks. */
            protocol?: components["schemas"]["UpstreamKind"];
            proxy?: components["schemas"]["MaskedUrl"] | null;
            /** @description Region; an upstream without one never satisfies a region constraint. */
            region?: string | null;
            /** @description The affinity key's value is sent in this header. */
            session_header?: string | null;
            /** @description Tags. */
            tags?: components["schemas"]["Tags"];
            /** @description Overrides of the settings' timeouts. */
            timeouts?: components["schemas"]["Timeouts"];
        };
        /** @description An upstream with its state. */
        UpstreamView: components["schemas"]["UpstreamSpec"] & {
            /** @description What it charges and what is left. */
            account: components["schemas"]["BillingView"];
            /** @description How it is, in one word. */
            condition: components["schemas"]["Condition"];
            /** @description Its credentials. */
            credentials: components["schemas"]["CredentialView"][];
            /** @description Groups it is a member of. */
            groups: components["schemas"]["GroupId"][];
            /** @description How it is, in full. */
            health: components["schemas"]["UpstreamHealth"];
            /** @description Identity. */
            id: components["schemas"]["UpstreamId"];
            /** @description Name. */
            name: components["schemas"]["Name"];
            /** @description The revision that last changed it; a change has to name it. */
            revision: components["schemas"]["Revision"];
        };
        /**
         * @description Tokens of one answer, in counters that mean the same for every protocol.
         *
         *     Total input is `fresh + read + write_5m + write_1h + write_other`. A counter that was not reported is `None`,
         *     a reported zero is `Some(0)`.
         */
        Usage: {
            /**
             * Format: int64
             * @description Input tokens neither read from nor written to a cache.
             */
            fresh?: number | null;
            /**
             * Format: int64
             * @description Output tokens, reasoning included.
             */
            output?: number | null;
            /**
             * Format: int64
             * @description Input tokens read from a cache.
             */
            read?: number | null;
            /**
             * Format: int64
             * @description Reasoning tokens, a part of `output`.
             */
            reasoning?: number | null;
            tier?: components["schemas"]["ServiceTier"] | null;
            wire?: components["schemas"]["Protocol"] | null;
            /**
             * Format: int64
             * @description Input tokens written to a cache that lives an hour.
             */
            write_1h?: number | null;
            /**
             * Format: int64
             * @description Input tokens written to a cache that lives five minutes.
             */
            write_5m?: number | null;
            /**
             * Format: int64
             * @description Input tokens written to a cache of unknown life.
             */
            write_other?: number | null;
        };
        /**
         * @description [`Usage`] under the names of its columns; absent counters were not reported. The `observed_…` are estimates
         *     by what passed through, whatever was reported.
         */
        UsageColumns: {
            /** Format: int64 */
            observed_input?: number | null;
            /** Format: int64 */
            observed_output?: number | null;
            service_tier?: components["schemas"]["ServiceTier"] | null;
            /** Format: int64 */
            tokens_fresh?: number | null;
            /** Format: int64 */
            tokens_output?: number | null;
            /** Format: int64 */
            tokens_read?: number | null;
            /** Format: int64 */
            tokens_reasoning?: number | null;
            /** Format: int64 */
            tokens_write_1h?: number | null;
            /** Format: int64 */
            tokens_write_5m?: number | null;
            /** Format: int64 */
            tokens_write_other?: number | null;
            usage_source?: components["schemas"]["UsageSource"] | null;
            usage_wire?: components["schemas"]["Protocol"] | null;
        };
        /**
         * @description Where the numbers of tokens are from.
         * @enum {string}
         */
        UsageSource: "reported" | "observed";
        VaultStatus: {
            /** @description `keychain`, `file` or `memory`. */
            kind: string;
            /** @description Credentials whose secret could not be found. */
            missing_credentials: number;
        };
        /** @description Which list it is. */
        Version: {
            /**
             * Format: date
             * @description The day on which it was fetched.
             */
            date: string;
            /** @description The first twelve digits of the SHA-256 of the source. */
            id: string;
            /** @description Where it is from. */
            source: string;
        };
        What: {
            /** @enum {string} */
            kind: "not_configured";
        } | {
            /** @description The group. */
            group: components["schemas"]["GroupId"];
            /** @enum {string} */
            kind: "group_down";
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /**
             * Format: int64
             * @description Milliseconds until the first member is tried again.
             */
            remaining_ms?: number | null;
            /** @description The members that do not serve. */
            upstreams: components["schemas"]["UpstreamId"][];
        } | {
            /** @description The group. */
            group: components["schemas"]["GroupId"];
            /** @enum {string} */
            kind: "group_degraded";
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /** @description Of how many that are switched on. */
            of: number;
            /** @description How many members do not serve. */
            out: number;
            /**
             * Format: int64
             * @description Milliseconds until the first of them is tried again.
             */
            remaining_ms?: number | null;
            /** @description Those members. */
            upstreams: components["schemas"]["UpstreamId"][];
        } | {
            /** @description Why. */
            class: components["schemas"]["Class"];
            /** @enum {string} */
            kind: "credential_rejected";
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
        } | {
            /** @enum {string} */
            kind: "model_gone";
            /** @description The model, by the name the upstream is asked for. */
            model: string;
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /**
             * Format: int64
             * @description Milliseconds until it is asked for again.
             */
            remaining_ms?: number | null;
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
        } | {
            /** @enum {string} */
            kind: "credentials_missing";
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
        } | (components["schemas"]["BudgetOwner"] & {
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /**
             * Format: date-time
             * @description When it begins anew; absent: never.
             */
            resets_at?: string | null;
            /**
             * Format: double
             * @description Spent of the limit: 1 is all of it.
             */
            share: number;
            /** @description Over which span. */
            span: components["schemas"]["BudgetSpan"];
        } & {
            /** @enum {string} */
            kind: "budget_spent";
        }) | {
            currency?: components["schemas"]["Currency"] | null;
            /** @description Nothing is left, so that no group uses it. */
            empty: boolean;
            /** @enum {string} */
            kind: "balance_low";
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /** @description What is left, in `currency`. */
            remaining?: string | null;
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
        } | {
            /** @description The multiplier before. */
            before?: string | null;
            /** @enum {string} */
            kind: "multiplier_changed";
            /** @description The multiplier stated now. */
            multiplier?: string | null;
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
        } | {
            /** @description The group's cap. */
            cap?: string | null;
            /** @description The group. */
            group: components["schemas"]["GroupId"];
            /** @description The group's name. */
            group_name: components["schemas"]["Name"];
            /** @enum {string} */
            kind: "over_cap";
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /** @description What one unit of list price costs. */
            price?: string | null;
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
        } | {
            /** @description The group. */
            group: components["schemas"]["GroupId"];
            /** @description The group's name. */
            group_name: components["schemas"]["Name"];
            /** @enum {string} */
            kind: "multiplier_unknown";
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
        } | {
            /** @description Why. */
            error: string;
            /** @enum {string} */
            kind: "collection_failing";
            /** @description Its name. */
            name: components["schemas"]["Name"];
            /**
             * Format: date-time
             * @description Since when.
             */
            since?: string | null;
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
        } | {
            currency?: components["schemas"]["Currency"] | null;
            /** @description How much more, in `currency`. */
            excess?: string | null;
            /** @enum {string} */
            kind: "billing_warning";
            /** @description Its name. */
            name: components["schemas"]["Name"];
            reason?: components["schemas"]["CostReason"] | null;
            /** @description The upstream. */
            upstream: components["schemas"]["UpstreamId"];
        } | {
            /** @description Why. */
            error: string;
            /** @enum {string} */
            kind: "database_away";
        } | {
            /** @enum {string} */
            kind: "records_lost";
            /**
             * Format: int64
             * @description How many.
             */
            records: number;
        };
        /** @description A span of time compared. */
        WindowView: {
            /** @description What was found. */
            comparison: components["schemas"]["CostComparison"];
            /** @description `1h`, `24h` or `7d`. */
            window: string;
        };
        /** @description Why a group does not use a member for its money. */
        Withheld: {
            /** @description What the group allows. */
            cap: string;
            /** @enum {string} */
            kind: "over_cap";
            /** @description What one unit of list price costs. */
            price: string;
        } | {
            /** @enum {string} */
            kind: "multiplier_unknown";
        } | {
            /** @enum {string} */
            kind: "balance_empty";
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
