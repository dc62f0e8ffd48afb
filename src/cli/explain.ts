/**
 * `kubedoh explain`: shows how a gateway resolves a name.
 * @module
 */
import type { Output } from '../node/output.ts'
import { formatExplanation } from './explanation-text.ts'
import type { Input } from './flags.ts'
import { callGateway, printResponse } from './operator-call.ts'

/**
 * Prints the gateway's answer for a name, then the server block, plugins and snapshots behind it.
 */
export async function runExplain(input: Input, output: Output): Promise<void> {
  const [name = '', type = 'A'] = input.args
  const query = new URLSearchParams({ name, type })
  const token = input.text('token')
  const text = await callGateway(input, 'GET', `/v1/explain?${query}`, undefined, token)
  printResponse(input, output, [text, formatExplanation])
}
