/**
 * `kubedoh explain`: shows how a gateway, a running server, or a cluster with a Corefile resolves a
 * name.
 * @module
 */

import { HttpError } from '../../gateway/doh/http-error.ts'
import { parseJsonQuery } from '../../gateway/doh/json-query.ts'
import { explanationJson } from '../../resolver/chain/explanation-json.ts'
import { loadCorefile } from '../../server/node/load-corefile.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { Server } from '../../server/serve/server.ts'
import { builtInCorefile } from '../export/export-directive.ts'
import type { Input } from '../flags/flags.ts'
import {
  ADMIN_VARIABLE,
  callGateway,
  idOf,
  printResponse,
  readGatewayUrl,
  storedTokenOf,
} from '../flags/operator-call.ts'
import { type AskFor, explainSearch } from './explain-search.ts'
import { formatExplanation } from './explanation-text.ts'

/** The client that a cluster's answers are explained for. */
const CLIENT = { address: '127.0.0.1', port: 0, transport: 'tcp' } as const

/** Explains one name, and is closed after the last. */
type Answers = { readonly ask: AskFor; readonly close: () => Promise<void> }

/**
 * Prints the answer for a name, then the objects, server block, plugins and snapshots behind it.
 * With `--from`, prints the names that a Pod tries first.
 * @throws {CommandError} for an invalid name, and without a gateway, cluster or Corefile
 */
export async function runExplain(input: Input, output: Output): Promise<void> {
  const [name = ''] = input.args
  const answers = isLocal(input) ? await openCluster(input, output) : ofGateway(input)
  try {
    const { ask } = answers
    const found = await (input.text('from') === '' ? ask(name) : explainSearch(input, ask))
    printResponse(input, output, [`${JSON.stringify(found)}\n`, formatExplanation])
  } finally {
    await answers.close()
  }
}

/** Whether the answer comes from a cluster or a Corefile rather than from a gateway. */
function isLocal(input: Input): boolean {
  const given = [input.text('conf'), input.text('kubeconfig'), ...input.texts('objects')]
  if (given.some((text) => text !== '')) {
    if (input.isSet('gateway')) {
      throw new CommandError('--gateway excludes --conf, --kubeconfig and --objects')
    }
    if (input.text('as') === '') return true
    throw new CommandError('--as needs --gateway: only gateways have tokens')
  }
  if (input.text('gateway') !== '') return false
  throw new CommandError('explain needs --gateway URL, or --kubeconfig or --objects for a cluster')
}

function ofGateway(input: Input): Answers {
  const [, type = 'A'] = input.args
  return {
    ask: async (name) => {
      const as = idOf(input.text('as'))
      const query = new URLSearchParams({ name, type, ...(as !== '' && { as }) })
      const token = as === '' ? await tokenOf(input) : input.text('token')
      return JSON.parse(await callGateway(input, 'GET', `/v1/explain?${query}`, undefined, token))
    },
    close: () => Promise.resolve(),
  }
}

/**
 * Finds the token; '' for the operator's. A login whose ID token has ended has its client token
 * still, which may explain what it sees.
 */
async function tokenOf(input: Input): Promise<string> {
  const given = input.text('token')
  if (given !== '' || input.env(ADMIN_VARIABLE).trim() !== '') return given
  const url = readGatewayUrl(input)
  return storedTokenOf(input, url, 'idToken').then(
    () => '',
    () => storedTokenOf(input, url, 'token'),
  )
}

async function openCluster(input: Input, output: Output): Promise<Answers> {
  const [name = '', type = 'A'] = input.args
  readMessage(name, type)
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
  const close = (): Promise<void> => server.close()
  try {
    await server.open(conf === '' ? builtInCorefile() : loadCorefile(conf))
  } catch (error) {
    await close()
    throw error
  }
  return {
    close,
    ask: async (asked) => {
      const explanation = await server.explain(readMessage(asked, type), CLIENT)
      const json = explanation && explanationJson(explanation, null)
      if (json !== undefined) return json
      throw new CommandError('The Corefile drops the query: no response')
    },
  }
}

function readMessage(name: string, type: string): Uint8Array {
  try {
    return parseJsonQuery(new URLSearchParams({ name, type })).message
  } catch (error) {
    if (error instanceof HttpError) throw new CommandError(error.message)
    throw error
  }
}
