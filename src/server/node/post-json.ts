/**
 * Sends JSON to collectors.
 * @module
 */

/** Sends JSON. Rejects after a timeout and for a status other than 2xx. */
export async function postJson(url: string, json: string, timeoutMs: number): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: json,
    signal: AbortSignal.timeout(timeoutMs),
  })
  // Discards the body, which would keep the connection busy.
  await response.body?.cancel()
  if (!response.ok) throw new Error(`${url}: HTTP status ${response.status}`)
}
