// Makes src/api/schema.d.ts from openapi.json. With --check it only compares, and fails when the file is stale.
import { readFile, writeFile } from "node:fs/promises";
import openapi, { astToString } from "openapi-typescript";

const SOURCE = new URL("../openapi.json", import.meta.url);
const TARGET = new URL("../src/api/schema.d.ts", import.meta.url);

const document = JSON.parse(await readFile(SOURCE, "utf8"));
for (const [path, operations] of Object.entries(document.paths)) {
  for (const operation of Object.values(operations)) {
    delete operation.operationId; // calls are named by path and method
    for (const parameter of operation.parameters ?? []) {
      // A parameter that the path does not name can only be part of the query.
      if (parameter.in === "path" && !path.includes(`{${parameter.name}}`)) {
        parameter.in = "query";
        parameter.required = parameter.required && !JSON.stringify(parameter.schema).includes('"null"');
      }
    }
  }
}

// A schema that is referred to but not described can be anything.
for (const [, name] of JSON.stringify(document.paths).matchAll(/#\/components\/schemas\/(\w+)/g)) {
  document.components.schemas[name] ??= {};
}

const types = `// Made from openapi.json by "npm run generate"; not edited by hand.\n${astToString(await openapi(document))}`;
if (process.argv.includes("--check")) {
  if ((await readFile(TARGET, "utf8").catch(() => "")) !== types) {
    console.error("src/api/schema.d.ts does not fit openapi.json: run `npm run generate`");
    process.exit(1);
  }
} else {
  await writeFile(TARGET, types);
}
