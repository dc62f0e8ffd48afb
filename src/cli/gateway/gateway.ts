/**
 * `kubedoh gateway`: runs the gateway on this machine instead of Cloudflare Workers.
 * @module
 */
import { dirname } from 'node:path'
import { ConfigError } from '../../corefile/problem.ts'
import { errorText, fileReason } from '../../dns/bytes/unknown.ts'
import { type Log, sampledLog } from '../../dns/telemetry/log.ts'
import {
  type GatewayConfig,
  GatewayConfigError,
  type GatewayVariables,
  readGatewayConfig,
} from '../../gateway/config/config.ts'
import { type GatewayStore, Mutex } from '../../gateway/snapshots/store.ts'
import type { TlsService } from '../../resolver/contract/feature.ts'
import {
  createNodeGateway,
  createNodeStore,
  type GatewayServer,
  type PrimaryAddress,
} from '../../server/gateway/node-gateway.ts'
import { prepareStoreFolder, warnUnwritable } from '../../server/gateway/store-folder.ts'
import { LOOPBACK } from '../../server/http/doh-listener.ts'
import { CertificateFiles } from '../../server/keys/certificate-files.ts'
import { elapsed } from '../../server/node/elapsed.ts'
import { CONFIG_FILES } from '../../server/node/load-corefile.ts'
import { watchLoop } from '../../server/node/loop-watch.ts'
import { startMemoryTrim } from '../../server/node/memory-trim.ts'
import { NODE_TURNS } from '../../server/node/node-turns.ts'
import {
  announce,
  CommandError,
  createLog,
  createPrint,
  listenMessage,
  type Output,
  type Print,
} from '../../server/node/output.ts'
import { requireTextFile } from '../../server/node/read-files.ts'
import { onReloadSignal, untilSignal } from '../../server/node/signals.ts'
import { parseListenAddress } from '../../server/sockets/listen-address.ts'
import { trustMoreAuthorities } from '../flags/authorities.ts'
import { collectorOf } from '../flags/collector.ts'
import type { FlagName, Input } from '../flags/flags.ts'
import { readLingerMs } from '../flags/linger.ts'
import { readGatewayUrl, trimToken } from '../flags/operator-call.ts'
import type { OwnCluster } from './own-cluster.ts'
import { variablesReader } from './variable-folder.ts'

/** A running gateway. */
export type RunningGateway = {
  readonly url: string
  /** Address and port of DNS over TLS; absent without it. */
  readonly dot?: string
  /**
   * Reloads the Corefile, the variables and the certificate; logs an error and keeps what was if
   * invalid.
   */
  readonly reload: () => Promise<void>
  /** Answers for KUBEDOH_LINGER while `/ready` is 503, then closes connections and stops. */
  readonly stop: () => Promise<void>
}

/** Warning of a gateway without a folder. */
const FORGETS =
  '--store memory: a restart forgets client tokens, rollbacks and all snapshots; queries get ' +
  'SERVFAIL until the exporters publish again. Use --store file:FOLDER to keep them'
/** The same of one that follows an API server itself. */
const FORGETS_LESS =
  '--store memory: only ClientTokens are tokens of this gateway, and a restart forgets what the ' +
  'exporters of CLUSTERS published; use --store file:FOLDER to keep both'
/** Warning of DNS over TLS that refuses every query. */
const NOBODY =
  '--dot.listen refuses every query: set TOKEN_DOMAIN for tokens in server names, or --client-ca'
const LISTEN_DEFAULT = '127.0.0.1:8787'

/** Runs the command until SIGINT or SIGTERM. */
export async function runGateway(input: Input, output: Output): Promise<void> {
  const running = await startNodeGateway(input, output)
  const scheme = new URL(running.url).protocol === 'https:' ? 'HTTPS' : 'HTTP'
  // The reader of the ready line may send a signal at once.
  const offReload = onReloadSignal(() => void running.reload())
  const ended = untilSignal()
  const dot = running.dot === undefined ? '' : `, DNS over TLS on ${running.dot}`
  announce(output, `ready: DNS over ${scheme} on ${running.url}/dns-query${dot}`)
  void watchLoop(input.env('KUBEDOH_SLOW_TURNS'), createLog(output))
  const stopTrim = startMemoryTrim()
  await ended
  stopTrim()
  offReload()
  await running.stop()
}

/** Starts the gateway; it answers when the promise resolves. */
export async function startNodeGateway(input: Input, output: Output): Promise<RunningGateway> {
  const address = input.isSet('listen') ? input.text('listen') : LISTEN_DEFAULT
  const { host, port } = parseListenAddress(address)
  const tls = readTls(input)
  if (tls === undefined && !input.isSet('insecure') && !LOOPBACK.has(host ?? '')) {
    throw new CommandError(
      `--listen ${address} would send tokens and responses unencrypted; pass --tls-cert and ` +
        '--tls-key, put a TLS proxy before a loopback address, or pass --insecure',
    )
  }
  const lingerMs = readLingerMs(input)
  const log = sampledLog({ log: createLog(output), now: elapsed })
  const own = await readOwnCluster(input)
  const readGiven = variablesReader(input)
  const readVariables = (): GatewayVariables => own?.addTo(readGiven()) ?? readGiven()
  const variables = readVariables()
  const config = await readConfig(input, variables)
  const dot = readDotAddress(input, tls)
  const served = { config, tls, own, print: createPrint(output), dotPort: dot?.port }
  const server = await createServer(input, log, served)
  if (dot !== undefined && admitsNobody(input, config)) log({ level: 'warning', message: NOBODY })
  await own?.start(server, output)
  warnOfMemory(input, own, log)
  try {
    const bound = await server.listen(host, port)
    const over = dot && { dot: await listenDot(server, dot) }
    const scheme = tls === undefined ? 'http' : 'https'
    const followed = { server, log, lingerMs, variables, readVariables }
    const url = `${scheme}://${host ?? 'localhost'}:${bound}`
    return { url, ...over, ...followFiles(input, { ...followed, tls, own }) }
  } catch (error) {
    await own?.stop()
    await server.close()
    if (error instanceof CommandError) throw error
    throw new CommandError(listenMessage(error, `--listen ${address}`), { cause: error })
  }
}

type DotAddress = ReturnType<typeof parseListenAddress> & { readonly text: string }

/** Reads where to serve DNS over TLS, if anywhere. @throws {CommandError} without a certificate */
function readDotAddress(input: Input, tls: TlsService | undefined): DotAddress | undefined {
  const text = input.text('dot.listen')
  if (text === '') return undefined
  if (tls !== undefined) return { ...parseListenAddress(text), text }
  throw new CommandError('--dot.listen needs --tls-cert and --tls-key')
}

/** Starts to listen for DNS over TLS. @returns the address and port */
async function listenDot(server: GatewayServer, address: DotAddress): Promise<string> {
  const { host, port, text } = address
  try {
    const bound = await server.listenDot?.(host, port)
    return `${host?.includes(':') ? `[${host}]` : (host ?? '')}:${bound}`
  } catch (error) {
    throw new CommandError(listenMessage(error, `--dot.listen ${text}`), { cause: error })
  }
}

function admitsNobody(input: Input, { access, tokenDomain }: GatewayConfig): boolean {
  return !access.isPublic && tokenDomain === '' && input.text('client-ca') === ''
}

/** Loads what follows a cluster only where there is one. */
async function readOwnCluster(input: Input): Promise<OwnCluster | undefined> {
  if (input.env('KUBEDOH_CLUSTER') === '') return undefined
  return (await import('./own-cluster.ts')).OwnCluster.read(input)
}

function warnOfMemory(input: Input, own: OwnCluster | undefined, log: Log): void {
  if (input.text('store') !== 'memory' || input.isSet('follow')) return
  if (own === undefined) log({ level: 'warning', message: FORGETS })
  else log({ level: 'info', message: FORGETS_LESS })
}

type Followed = {
  readonly server: GatewayServer
  readonly tls: TlsService | undefined
  readonly own: OwnCluster | undefined
  readonly log: Log
  readonly lingerMs: number
  readonly variables: GatewayVariables
  readonly readVariables: () => GatewayVariables
}

/**
 * Reloads the certificate and the variables when their files change, and these and the Corefile on
 * request.
 */
function followFiles(
  input: Input,
  { server, tls, own, log, lingerMs, variables, readVariables }: Followed,
): Pick<RunningGateway, 'reload' | 'stop'> {
  let used = tls
  let usedVariables = variables
  // What was read last counts, also if a request comes while the files change.
  const turns = new Mutex()
  const renewVariables = (next: GatewayVariables): Promise<void> =>
    turns.run(async () => {
      await server.reload(await readConfig(input, next))
      usedVariables = next
    })
  const files =
    tls &&
    new CertificateFiles({
      used: () => used,
      read: () => readTls(input),
      renew: (next) => {
        if (next !== undefined) server.renew(next)
        used = next
      },
      log,
    })
  const folder =
    input.env('KUBEDOH_VARIABLES') === ''
      ? undefined
      : new CertificateFiles({
          used: () => usedVariables,
          read: readVariables,
          renew: renewVariables,
          log,
          what: 'folder of variables',
        })
  return {
    reload: async () => {
      try {
        await renewVariables(readVariables())
        log({ level: 'info', message: 'reloaded the Corefile' })
      } catch (error) {
        const message = 'the Corefile is not used; the previous one stays'
        log({ level: 'error', message, reason: errorText(error) })
      }
      await files?.look()
    },
    stop: async () => {
      await server.drain(lingerMs)
      files?.stop()
      folder?.stop()
      await own?.stop()
      await server.close()
    },
  }
}

type ServedOptions = {
  readonly config: GatewayConfig
  readonly print: Print
  readonly dotPort: number | undefined
}

async function createServer(
  input: Input,
  log: Log,
  { own, ...served }: Pick<Followed, 'tls' | 'own'> & ServedOptions,
): Promise<GatewayServer> {
  const store = input.isSet('follow') ? readPrimary(input) : await openStore(input, log, own)
  const corefileFolder = dirname(input.text('conf'))
  const collector = collectorOf(input, 'gateway')
  const followed = own && { metrics: own.metrics, hasRead: () => own.hasRead }
  try {
    const options = { ...served, ...followed, store, corefileFolder, log, collector }
    return await createNodeGateway(options)
  } catch (error) {
    if (error instanceof GatewayConfigError) throw commandError(error)
    const text = errorText(error)
    throw new CommandError(`--tls-cert and --tls-key cannot be used: ${text}`)
  }
}

async function readConfig(input: Input, variables: GatewayVariables): Promise<GatewayConfig> {
  const path = input.text('conf')
  try {
    const corefile = { file: path, source: CONFIG_FILES, turns: NODE_TURNS }
    return await readGatewayConfig({ ...variables, COREFILE: requireTextFile(path) }, corefile)
  } catch (error) {
    if (error instanceof GatewayConfigError) throw commandError(error)
    throw error
  }
}

/** Unwraps the Corefile's problems, which are then printed one per line, as by `serve`. */
function commandError(error: GatewayConfigError): Error {
  return error.cause instanceof ConfigError ? error.cause : new CommandError(error.message)
}

async function openStore(
  input: Input,
  log: Log,
  own: OwnCluster | undefined,
): Promise<GatewayStore> {
  const text = input.text('store')
  if (text.startsWith('s3:')) {
    // Loads the client of S3 only where it is used.
    const { openS3Store } = await import('../../server/gateway/s3-store.ts')
    const env = (name: string): string => input.env(name)
    const bucket = await openS3Store(text, { env, isInsecure: input.isSet('insecure') }, log)
    return own?.storeBeside(bucket) ?? bucket
  }
  const folder = storeFolder(text)
  if (folder !== undefined) prepareFolder(folder, log)
  const store = createNodeStore(folder, log)
  if (own === undefined) return store
  return folder === undefined ? own.storeInMemory(store) : own.storeBeside(store)
}

/** Reads `--follow`, the token and the CAs for it. @throws {CommandError} */
function readPrimary(input: Input): PrimaryAddress {
  const url = readGatewayUrl(input, 'follow')
  if (input.text('store') !== 'memory') {
    throw new CommandError('--follow and --store exclude each other: a replica keeps nothing')
  }
  const path = input.env('KUBEDOH_REPLICA_TOKEN_FILE')
  const text = path === '' ? input.env('KUBEDOH_REPLICA_TOKEN') : requireTextFile(path)
  const from = path || 'KUBEDOH_REPLICA_TOKEN'
  const token = trimToken(text, from)
  const ca = input.env('KUBEDOH_CA')
  // Beside the system's: issuers of clients' tokens have certificates of these.
  if (ca !== '') trustMoreAuthorities(ca)
  if (token !== '') return { url, token }
  throw new CommandError(`${from} has no token; create one with "kubedoh keys --replica"`)
}

function storeFolder(text: string): string | undefined {
  if (text === 'memory') return undefined
  const [, folder = ''] = /^file:(.+)$/.exec(text) ?? []
  if (folder !== '') return folder
  throw new CommandError(`--store is "${text}", expected file:FOLDER, s3://BUCKET/PREFIX or memory`)
}

/** Warns of a folder that can be read only. @throws {CommandError} for one that cannot be used */
function prepareFolder(folder: string, log: Log): void {
  try {
    const reason = prepareStoreFolder(folder)
    if (reason !== undefined) warnUnwritable(log, `file:${folder}`, reason)
  } catch (error) {
    throw new CommandError(`Cannot use --store file:${folder}: ${fileReason(error)}`)
  }
}

function readTls(input: Input): TlsService | undefined {
  const file = (flag: FlagName): string => requireTextFile(input.text(flag))
  const [cert, key] = [input.text('tls-cert'), input.text('tls-key')]
  if (cert === '' && key === '') return undefined
  if (cert === '' || key === '') throw new CommandError('--tls-cert and --tls-key go together')
  const files = { cert: file('tls-cert'), key: file('tls-key') }
  if (input.text('client-ca') === '') return { ...files, clientAuth: 'nocert' }
  return { ...files, ca: file('client-ca'), clientAuth: 'request' }
}
