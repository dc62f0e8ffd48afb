/**
 * `kubedoh doctor`: examines a gateway, a cluster's DNS Service, a DNS server and its upstreams.
 * Prints the next step for whatever is wrong.
 * @module
 */
import { dirname } from 'node:path'
import { NO_FILES } from '../../corefile/lexeme-stream.ts'
import { type Corefile, parseCorefile } from '../../corefile/parse-corefile.ts'
import { formatProblem } from '../../corefile/problem.ts'
import type { ServerBlock } from '../../corefile/server-block.ts'
import { parseName } from '../../dns/names/name.ts'
import { loadCorefile } from '../../server/node/load-corefile.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { readTextFile } from '../../server/node/read-files.ts'
import { parsePlainServer } from '../clients/query.ts'
import { nextAfter401 } from '../credentials/gateway-login.ts'
import type { Input } from '../flags/flags.ts'
import {
  ADMIN_VARIABLE,
  operatorToken,
  readGatewayUrl,
  sendToGateway,
} from '../flags/operator-call.ts'
import { checkCorefile } from '../serve/check.ts'
import { writeBundle } from './doctor-bundle.ts'
import { checkDnsService, type DnsService } from './doctor-cluster.ts'
import { checkDistribution } from './doctor-distribution.ts'
import { checkNdots, checkServer, checkUpstreams } from './doctor-dns.ts'
import { type Finding, ok, printDoctorFindings, problem } from './doctor-findings.ts'
import { checkName } from './doctor-name.ts'

const STANDARD_PORT = 53
const UNAUTHORIZED = 401
const RESOLV_CONF = '/etc/resolv.conf'
/** Age of a snapshot from which on responses are marked stale (`STALE_SECONDS`). */
const STALE_SECONDS = 60
const AGE = /^kubedoh_snapshot_age_seconds\{cluster="([^"]*)"\} (\S+)$/gm

/**
 * Prints all findings; with `--bundle`, writes them and more to a file.
 * @throws {CommandError} when something is wrong, and for invalid flags
 */
export async function runDoctor(input: Input, output: Output): Promise<void> {
  const findings = await examine(input)
  if (input.isSet('json')) output.stdout.write(`${JSON.stringify({ findings })}\n`)
  else printDoctorFindings(findings, output)
  if (input.text('bundle') !== '') await writeBundle(input, findings)
  const count = findings.filter(({ state }) => state === 'problem').length
  if (count > 0) throw new CommandError(count === 1 ? '1 problem' : `${count} problems`)
}

async function examine(input: Input): Promise<readonly Finding[]> {
  const name = nameToCheck(input.text('name'))
  const conf = input.text('conf')
  const corefile = conf === '' ? undefined : loadCorefile(conf)
  const given = input.text('server') === '' ? undefined : parsePlainServer(input.text('server'))
  const service = await examineService(input, given?.address)
  const addresses = given === undefined ? service.addresses : [given.address]
  const servers = addresses.map((address) => ({ address, port: given?.port ?? STANDARD_PORT }))
  const domain = input.text('cluster-domain').replace(/\.$/, '')
  const inside = [...service.addresses, ...service.endpoints]
  const own = [...servers, ...inside.map((address) => ({ address, port: STANDARD_PORT }))]
  const isAutopath =
    corefile?.blocks.some(({ directives }) => directives.some(({ name }) => name === 'autopath')) ??
    false
  return [
    ...(await examineGateway(input)),
    ...service.findings,
    ...(servers.length === 0
      ? [skipped('server', 'pass --server HOST:PORT or --kubeconfig FILE')]
      : (await Promise.all(servers.map((server) => checkServer(server, domain)))).flat()),
    ...(corefile === undefined
      ? [skipped('upstreams', 'pass --conf COREFILE')]
      : [await checkConf(conf, corefile), ...(await checkUpstreams(corefile, own))]),
    ...(name === undefined ? [] : await checkName(corefile?.blocks ?? ownUpstreams(), name)),
    checkNdots(readTextFile(RESOLV_CONF) ?? '', isAutopath),
  ]
}

function nameToCheck(text: string): Uint8Array | undefined {
  if (text === '') return undefined
  const name = parseName(text)
  if (name === undefined) throw new CommandError(`--name "${text}" is not a domain name`)
  return name
}

/** Returns a server block with the name servers of this machine, or of this Pod. */
function ownUpstreams(): ServerBlock[] {
  return parseCorefile(`. {\n  forward . ${RESOLV_CONF}\n}\n`, '--name', NO_FILES)
}

/** Whether `kubedoh serve` would take the Corefile: its plugins may refuse what parses. */
async function checkConf(path: string, corefile: Corefile): Promise<Finding> {
  const place = { folder: dirname(path), isToCopy: false }
  const { problems, count } = await checkCorefile(corefile, place, 'serve')
  const [first] = problems
  const blocks = count === 1 ? '1 server block' : `${count} server blocks`
  if (first === undefined) return ok('corefile', `${path}: ${blocks}`)
  return problem('corefile', formatProblem(first), `kubedoh check ${path}`)
}

function skipped(check: string, next: string): Finding {
  return { check, state: 'skipped', text: 'not examined', next }
}

async function examineService(input: Input, server: string | undefined): Promise<DnsService> {
  const path = input.text('kubeconfig')
  if (path === '') {
    const findings = [skipped('kube-dns', 'pass --kubeconfig FILE')]
    return { findings, addresses: [], endpoints: [] }
  }
  const connection = { kind: 'kubeconfig', path, context: undefined } as const
  const cluster = await checkDistribution(connection)
  const service = await checkDnsService(connection, server, cluster.service)
  return { ...service, findings: [...cluster.findings, ...service.findings] }
}

/** Checks that a gateway is reachable, and how old the snapshots of its clusters are. */
async function examineGateway(input: Input): Promise<readonly Finding[]> {
  if (input.text('gateway') === '') return [skipped('gateway', 'pass --gateway URL')]
  const tokenStep = (): Promise<string> =>
    nextAfter401(
      new URL(readGatewayUrl(input)).origin,
      `set ${ADMIN_VARIABLE} to its admin or read-only token (kubedoh keys --admin)`,
    )
  try {
    if ((await operatorToken(input)) === '') {
      return [problem('gateway', `${ADMIN_VARIABLE} is not set`, await tokenStep())]
    }
    const ready = await sendToGateway(input, '/readyz')
    const metrics = await sendToGateway(input, '/metrics')
    if (!metrics.ok) {
      const status = `HTTP status ${metrics.status}`
      if (metrics.status !== UNAUTHORIZED) {
        const next = 'is --gateway the URL of a kubedoh gateway? read its log'
        return [problem('gateway', `/metrics: ${status}`, next)]
      }
      return [problem('gateway', `the gateway refuses the token: ${status}`, await tokenStep())]
    }
    const waiting = ready.ok ? [] : (await ready.text()).split(',')
    return [ok('gateway', 'reachable'), ...describeAges(await metrics.text(), waiting)]
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return [problem('gateway', error.message, 'check --gateway, KUBEDOH_CA and the network')]
  }
}

function describeAges(metrics: string, waiting: readonly string[]): Finding[] {
  const next = 'read the log of its kubedoh export, or start it; see docs/failures.md'
  const missing = waiting.map((cluster) =>
    problem('exporter', `cluster ${cluster} has no usable snapshot`, next),
  )
  const aged = [...metrics.matchAll(AGE)].flatMap(([, cluster = '', age]): Finding[] => {
    if (waiting.includes(cluster)) return []
    const seconds = Math.round(Number(age))
    const text = `cluster ${cluster} was confirmed ${seconds} s ago`
    return [seconds <= STALE_SECONDS ? ok('exporter', text) : problem('exporter', text, next)]
  })
  return [...missing, ...aged]
}
