/**
 * Sends JSON to servers that collect it.
 * @module
 */

/** Sends JSON. @throws {Error} later, when it is not taken in time */
export async function postJson(url: string, json: string, timeoutMs: number): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: json,
    signal: AbortSignal.timeout(timeoutMs),
  })
  // What it says is of no interest, and must not keep the connection.
  await response.body?.cancel()
  if (!response.ok) throw new Error(`${url}: HTTP status ${response.status}`)
}
