/**
 * `npm start`: the whole of kubedoh on this machine. A gateway in workerd, an exporter that
 * publishes a cluster to it, and a DNS server that reads the same cluster.
 * @module
 */

import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { parseArgs, styleText } from 'node:util'
import { startGateway } from '../build/local-gateway.ts'
import { startExport } from '../src/cli/export/export.ts'
import { Input } from '../src/cli/flags/flags.ts'
import { serve } from '../src/cli/serve/serve.ts'
import { errorText, recordOf } from '../src/dns/bytes/unknown.ts'
import { type ClusterKeys, createClusterKeys, createToken } from '../src/exporter/cluster-keys.ts'
import { hashToken } from '../src/gateway/access/token.ts'
import type { GatewayVariables } from '../src/gateway/config/config.ts'
import {
  CommandError,
  describeError,
  EXIT,
  ignoreClosedPipes,
  type Output,
} from '../src/server/node/output.ts'
import { untilSignal } from '../src/server/node/signals.ts'
import type { ServeOptions } from '../src/server/serve/serve-options.ts'
import { CLIENT_TOKEN, formatExamples, type LimitedToken } from './examples.ts'
import { issuerVariables, startIssuer } from './issuer.ts'

const HELP = `Usage: npm start -- [options]

Starts a gateway, an exporter and a DNS server on this machine, with a demo cluster or yours.

Options:
  --kubeconfig FILE   a real cluster in place of the demo's
  --port PORT         port of the gateway on 127.0.0.1 (default 8787)
  --dns.port PORT     port of the DNS server on 127.0.0.1, UDP and TCP (default 5353)
  --help              this text
`

const OUTPUT: Output = { stdout: process.stdout, stderr: process.stderr }
const HOST = '127.0.0.1'
const CLUSTER = 'demo'
const SERVE_COREFILE = join(import.meta.dirname, 'serve.Corefile')
const GATEWAY_COREFILE = join(import.meta.dirname, 'gateway.Corefile')
const SHOP = join(import.meta.dirname, 'shop.yaml')

type Options = {
  readonly kubeconfig: string
  readonly port: number
  readonly dnsPort: number
}

async function main(): Promise<number> {
  try {
    const options = readOptions()
    if (options === undefined) return EXIT.DONE
    await run(options)
    return EXIT.DONE
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n`)
    return EXIT.FAILED
  }
}

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        kubeconfig: { type: 'string', default: '' },
        port: { type: 'string', default: '8787' },
        'dns.port': { type: 'string', default: '5353' },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) {
      process.stdout.write(HELP)
      return undefined
    }
    const port = readPort('port', values.port)
    return {
      port,
      dnsPort: readPort('dns.port', values['dns.port']),
      kubeconfig: values.kubeconfig,
    }
  } catch (error) {
    const message = errorText(error)
    throw new CommandError(`${message}\n${HELP}`)
  }
}

function readPort(name: string, text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && 0 < port && port < 65536) return port
  throw new CommandError(`--${name} is "${text}", expected 1 to 65535`)
}

async function run(options: Options): Promise<void> {
  const { port, dnsPort, kubeconfig } = options
  await checkFree(port, '--port')
  await checkFree(dnsPort, '--dns.port')
  const signal = untilSignal()
  const stops: (() => Promise<void>)[] = []
  try {
    const issuer = await startIssuer(HOST)
    stops.push(issuer.stop)
    const keys = await createClusterKeys()
    const admin = await createToken()
    const namespace = kubeconfig === '' ? 'shop' : 'default'
    step('gateway', `http://${HOST}:${port}`, 'DNS over HTTP, in workerd as at the edge')
    const gateway = await startGateway({
      port,
      onLog: logGateway,
      variables: {
        ...(await variables(keys, admin.sha256)),
        ...(await issuerVariables(issuer.url, namespace)),
      },
    })
    stops.push(gateway.stop)
    const source = kubeconfig === '' ? 'demo/shop.yaml' : kubeconfig
    step('exporter', source, 'publishes the cluster to the gateway')
    const exporting = await startExport(exportInput(kubeconfig, gateway.url, keys), OUTPUT)
    stops.push(exporting.stop)
    step('server', `${HOST}:${dnsPort}`, 'DNS over UDP and TCP, as in the cluster')
    const running = await serve(serveOptions(kubeconfig, dnsPort), OUTPUT)
    stops.push(() => running.stop())
    const outcome = await Promise.race([exporting.first, signal])
    if (outcome === undefined) return
    // Since the start of the process: loading modules is part of the wait.
    const seconds = performance.now() / 1000
    const isDemo = kubeconfig === ''
    const limited = await createLimitedToken(gateway.url, admin.token, namespace)
    const where = { url: gateway.url, host: HOST, dnsPort }
    const tokens = { adminToken: admin.token, limited }
    process.stdout.write(formatExamples({ ...where, ...tokens, isDemo, seconds }))
    issuer.load()
    await signal
  } finally {
    process.stdout.write('\n')
    for (const stop of stops.reverse()) await stop()
  }
}

function step(name: string, where: string, what: string): void {
  const label = styleText('bold', name.padEnd(10), { stream: process.stdout })
  process.stdout.write(`${label}${where.padEnd(24)}${what}\n`)
}

function logGateway(line: string): void {
  // These are the demo's own requests, in the audit log.
  if (line.includes('"level":"info"')) return
  process.stderr.write(`gateway: ${line}\n`)
}

/** Creates the token of a client that sees one namespace. @throws {CommandError} */
async function createLimitedToken(
  url: string,
  adminToken: string,
  namespace: string,
): Promise<LimitedToken> {
  const response = await fetch(`${url}/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}` },
    body: JSON.stringify({ name: `only ${namespace}`, namespaces: [namespace] }),
  })
  const { id, token } = recordOf(await response.json())
  if (typeof id === 'string' && typeof token === 'string') return { id, token, namespace }
  throw new CommandError(`the gateway made no token: HTTP ${response.status}`)
}

async function variables(
  { publicKey, tokenSha256 }: ClusterKeys,
  adminSha256: string,
): Promise<GatewayVariables> {
  return {
    COREFILE: readFileSync(GATEWAY_COREFILE, 'utf8'),
    CLUSTERS: JSON.stringify({ [CLUSTER]: { publicKey, tokenSha256 } }),
    ADMIN_TOKEN_SHA256: adminSha256,
    CLIENT_TOKEN_SHA256: await hashToken(CLIENT_TOKEN),
    REQUESTS_PER_MINUTE: '0',
  }
}

function exportInput(kubeconfig: string, url: string, keys: ClusterKeys): Input {
  const flags = new Map([
    ['gateway', [url]],
    ['cluster', [CLUSTER]],
    ['conf', [SERVE_COREFILE]],
    ['listen', ['']],
    ...(kubeconfig === ''
      ? [['objects', [SHOP]] as const]
      : [['kubeconfig', [kubeconfig]] as const]),
  ])
  return new Input([], flags, {
    KUBEDOH_TOKEN: keys.token,
    KUBEDOH_SIGNING_KEY: keys.signingKey,
    LOCAL_IPS: HOST,
  })
}

function serveOptions(kubeconfig: string, dnsPort: number): ServeOptions {
  return {
    conf: SERVE_COREFILE,
    dnsPort,
    objects: kubeconfig === '' ? [SHOP] : [],
    files: '',
    kubeconfig,
    etcd: '',
    dohListen: '',
    insecure: false,
    localAddresses: HOST,
  }
}

/** Reports a port in use before anything has started. @throws {CommandError} */
async function checkFree(port: number, flag: string): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, () => {
      server.close(() => {
        resolve()
      })
    })
  }).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw new CommandError(
      `cannot listen on ${HOST}:${port}: ${code === 'EADDRINUSE' ? 'address in use' : code}; stop the other process or run npm start -- ${flag} PORT`,
    )
  })
}

ignoreClosedPipes(OUTPUT)
process.exitCode = await main()
