/**
 * `kubedoh explain`: shows how a gateway, a running server, or a cluster with a Corefile resolves a
 * name.
 * @module
 */
import { explanationJson } from '../chain/explanation-json.ts'
import { HttpError } from '../doh/http-error.ts'
import { parseJsonQuery } from '../doh/json-query.ts'
import { loadCorefile } from '../node/load-corefile.ts'
import { CommandError, type Output } from '../node/output.ts'
import { Server } from '../server/server.ts'
import { formatExplanation } from './explanation-text.ts'
import { builtInCorefile } from './export-directive.ts'
import type { Input } from './flags.ts'
import { callGateway, printResponse } from './operator-call.ts'

/** The client that a cluster's answers are explained for. */
const CLIENT = { address: '127.0.0.1', port: 0, transport: 'tcp' } as const

/**
 * Prints the answer for a name, then the objects, server block, plugins and snapshots behind it.
 * @throws {CommandError} for an invalid name, and without a gateway, cluster or Corefile
 */
export async function runExplain(input: Input, output: Output): Promise<void> {
  const [name = '', type = 'A'] = input.args
  const query = new URLSearchParams({ name, type })
  const text = isLocal(input)
    ? `${JSON.stringify(await explainLocally(input, output, query))}\n`
    : await callGateway(input, 'GET', `/v1/explain?${query}`, undefined, input.text('token'))
  printResponse(input, output, [text, formatExplanation])
}

/** Whether the answer comes from a cluster or a Corefile rather than from a gateway. */
function isLocal(input: Input): boolean {
  const [conf, kubeconfig, objects] = [
    input.text('conf'),
    input.text('kubeconfig'),
    input.texts('objects'),
  ]
  if (conf !== '' || kubeconfig !== '' || objects.length > 0) return true
  if (input.text('gateway') !== '') return false
  throw new CommandError('explain needs --gateway URL, or --kubeconfig or --objects for a cluster')
}

async function explainLocally(
  input: Input,
  output: Output,
  query: URLSearchParams,
): Promise<unknown> {
  const message = readMessage(query)
  const conf = input.text('conf')
  const options = {
    conf: conf === '' ? 'Corefile' : conf,
    dnsPort: 53,
    objects: input.texts('objects'),
    kubeconfig: input.text('kubeconfig'),
    files: '',
    etcd: '',
    dohListen: '',
    insecure: false,
    localAddresses: input.env('LOCAL_IPS'),
  }
  const server = new Server(options, output)
  try {
    await server.open(conf === '' ? builtInCorefile() : loadCorefile(conf))
    const explanation = await server.explain(message, CLIENT)
    const json = explanation && explanationJson(explanation, null)
    if (json === undefined) throw new CommandError('The Corefile drops the query: no response')
    return json
  } finally {
    await server.close()
  }
}

function readMessage(query: URLSearchParams): Uint8Array {
  try {
    return parseJsonQuery(query).message
  } catch (error) {
    if (error instanceof HttpError) throw new CommandError(error.message)
    throw error
  }
}
