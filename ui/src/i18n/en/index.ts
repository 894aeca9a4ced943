import common from "./common.json";
import nav from "./nav.json";
import state from "./state.json";
import reasons from "./reasons.json";
import errors from "./errors.json";
import login from "./login.json";
import overview from "./overview.json";
import groups from "./groups.json";
import upstreams from "./upstreams.json";
import alerts from "./alerts.json";
import budgets from "./budgets.json";
import monitor from "./monitor.json";
import keys from "./keys.json";
import requests from "./requests.json";
import prices from "./prices.json";
import costs from "./costs.json";
import settings from "./settings.json";
import first_run from "./first_run.json";
import whatif from "./whatif.json";

export default {
  common,
  nav,
  state,
  reasons,
  errors,
  login,
  overview,
  groups,
  upstreams,
  alerts,
  budgets,
  monitor,
  keys,
  requests,
  prices,
  costs,
  settings,
  first_run,
  whatif,
};
