/** Login of a browser: the admin token for a session token. */
import { host, keepSession } from "@/host";
import { ApiFailure } from "./failure";

export async function logIn(adminToken: string): Promise<void> {
  const request = new Request(`${host.adminUrl}/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: adminToken }),
  });
  const response = await fetch(request).catch((why: unknown) => {
    throw ApiFailure.unreachable(why);
  });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw ApiFailure.of(response.status, body);
  keepSession((body as { token: string }).token);
}
