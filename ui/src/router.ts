/** The pages. Which row is open, filters and page numbers stand in the address, so that a view can be restored. */
import { createRouter, createWebHashHistory } from "vue-router";
import {
  Activity,
  CircleDollarSign,
  KeyRound,
  LayoutDashboard,
  Rows3,
  Server,
  SlidersHorizontal,
  Split,
} from "@lucide/vue";
import type { Component } from "vue";
import type { MessageKey } from "@/i18n";

export interface Page {
  name: "overview" | "groups" | "upstreams" | "monitor" | "requests" | "costs" | "keys" | "settings";
  label: MessageKey;
  icon: Component;
}

export const PAGES: readonly Page[] = [
  { name: "overview", label: "nav.overview", icon: LayoutDashboard },
  { name: "groups", label: "nav.groups", icon: Split },
  { name: "upstreams", label: "nav.upstreams", icon: Server },
  { name: "monitor", label: "nav.monitor", icon: Activity },
  { name: "requests", label: "nav.requests", icon: Rows3 },
  { name: "costs", label: "nav.costs", icon: CircleDollarSign },
  { name: "keys", label: "nav.keys", icon: KeyRound },
  { name: "settings", label: "nav.settings", icon: SlidersHorizontal },
];

export const router = createRouter({
  history: createWebHashHistory(),
  routes: [
    { path: "/", redirect: { name: "overview" } },
    { path: "/overview", name: "overview", component: () => import("@/pages/overview/OverviewPage.vue") },
    { path: "/groups/:id?", name: "groups", component: () => import("@/pages/groups/GroupsPage.vue") },
    { path: "/upstreams/:id?", name: "upstreams", component: () => import("@/pages/upstreams/UpstreamsPage.vue") },
    { path: "/monitor/:id?", name: "monitor", component: () => import("@/pages/monitor/MonitorPage.vue") },
    { path: "/requests/:id?", name: "requests", component: () => import("@/pages/requests/RequestsPage.vue") },
    { path: "/costs/:id?", name: "costs", component: () => import("@/pages/costs/CostsPage.vue") },
    { path: "/keys/:id?", name: "keys", component: () => import("@/pages/keys/KeysPage.vue") },
    { path: "/settings/:section?", name: "settings", component: () => import("@/pages/settings/SettingsPage.vue") },
    {
      path: "/first-run/:step?",
      name: "first-run",
      component: () => import("@/pages/first-run/FirstRunPage.vue"),
      meta: { bare: true },
    },
    { path: "/:rest(.*)*", name: "not-found", component: () => import("@/pages/NotFoundPage.vue") },
  ],
});
