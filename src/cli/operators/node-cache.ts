/**
 * `kubedoh node-cache`: a DNS cache for the pods of a node, with NodeLocal DNSCache's flags.
 * @module
 */

import { sleep } from '../../cluster/api/backoff.ts'
import { ConfigError } from '../../corefile/problem.ts'
import { formatAddress, parseAddress } from '../../dns/names/address.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { Metrics } from '../../dns/telemetry/metrics.ts'
import {
  type CorefileCheck,
  generateCorefile,
  NodeCorefile,
  type NodeCorefileOptions,
} from '../../operators/node-local/node-corefile.ts'
import { chooseRules, NodeSetup, setupErrors } from '../../operators/node-local/node-network.ts'
import {
  interfaceRemovalScript,
  interfaceScript,
  type NodeNetwork,
  type RulesKind,
  rulesRemovalScript,
  rulesScript,
} from '../../operators/node-local/node-rules.ts'
import { isServedByOthers, newerCacheDetector } from '../../operators/node-local/other-servers.ts'
import { waitForServer } from '../../operators/node-local/upstream-service.ts'
import { CommandError, createLog, type Output } from '../../server/node/output.ts'
import { readTextFile } from '../../server/node/read-files.ts'
import { FeatureServers } from '../../server/serve/feature-servers.ts'
import { formatMetrics } from '../../server/serve/process-metrics.ts'
import type { RunningServer, ServeOptions } from '../../server/serve/serve-options.ts'
import { ListenError } from '../../server/sockets/sockets.ts'
import { readInterval } from '../flags/duration.ts'
import type { FlagName, Input } from '../flags/flags.ts'
import { parsePort, runUntilSignal, serve, withPidfile } from '../serve/serve.ts'

/** Interval of the checks for changes of the template and of the ConfigMap. */
const CONFIG_MS = 10_000
/** Interval of the checks for missing addresses: without one, the node has no DNS. */
const ADDRESSES_MS = 1000
const ADDRESSES_MAX = 16
const INTERFACE_NAME = /^[a-zA-Z0-9_-]{1,15}$/
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
])

/** Runs the command until SIGINT or SIGTERM, or prints what it would run. */
export async function runNodeCache(input: Input, output: Output): Promise<void> {
  const network = readNetwork(input)
  const corefile = readCorefileOptions(input, network)
  const rules = readFlag(input, 'setupiptables') ? await readRules(input) : undefined
  if (input.isSet('print')) await print(input, output, { network, corefile, rules })
  else await withPidfile(input, () => runCache(input, output, { network, corefile, rules }))
}

type Plan = {
  readonly network: NodeNetwork
  readonly corefile: NodeCorefileOptions
  readonly rules: RulesKind | undefined
}

async function runCache(input: Input, output: Output, plan: Plan): Promise<void> {
  const { network, corefile, rules } = plan
  const seconds = readInterval(input)
  const isKept = readFlag(input, 'skipteardown')
  const hasInterface = readFlag(input, 'setupinterface')
  const log = createLog(output)
  const metrics = new Metrics()
  const errors = setupErrors(metrics)
  const isServed = (): boolean => isServedByOthers(network.addresses, network.dnsPort)
  const isSuperseded = newerCacheDetector(isServed)
  const setup = new NodeSetup({ network, hasInterface, rules, log, errors, isSuperseded })
  const onError = (): void => void errors('configmap').value++
  const config = new NodeCorefile(corefile, { check: checkOf(corefile), log, onError })
  await config.start()
  const status = metricsServer(input.text('metrics-listen-address'), metrics, log)
  await status.ensure()
  // kube-proxy may learn of their Service later, and SERVFAIL would replace its responses.
  if (rules !== undefined) await waitForServer(corefile.clusterDns, log)
  await setup.ensureInterface()
  const isReplaced = (): boolean => isKept || isServed()
  const end = async (hasRules: boolean): Promise<void> => {
    if (!isReplaced()) {
      if (hasRules) await setup.removeRules()
      await setup.removeInterface()
    } else log({ level: 'info', message: 'left interface and rules as they are' })
    await status.close()
  }
  const running = await serve(serveOptions(input, corefile), output).catch(async (error) => {
    await end(false)
    throw error
  })
  // Only now: without a server, packets to the Service's address must reach kube-proxy.
  await setup.ensureRules()
  const ended = new AbortController()
  const repeat = async (intervalMs: number, check: () => Promise<void>): Promise<void> => {
    for (;;) {
      await sleep(intervalMs, ended.signal)
      if (ended.signal.aborted) return
      await check()
    }
  }
  const loops = [
    repeat(ADDRESSES_MS, () => setup.watchAddresses()),
    repeat(seconds * 1000, async () => {
      await setup.restore()
      await status.ensure()
    }),
    repeat(CONFIG_MS, async () => {
      if (await config.update()) await running.reload()
    }),
  ]
  const stop = async (): Promise<void> => {
    ended.abort()
    await Promise.all(loops)
    // First, so that packets to the Service's address reach kube-proxy while the server stops.
    if (!isReplaced()) await setup.release()
    await running.stop()
    await end(true)
  }
  const { ports } = running
  const notReady = (): ReturnType<RunningServer['notReady']> => running.notReady()
  await runUntilSignal({ ports, notReady, reload: () => running.reload(), stop }, input, output)
}

/** Returns a check of the Corefile as `kubedoh check` does it. */
function checkOf({ corefile, dnsPort }: NodeCorefileOptions): CorefileCheck {
  return async (text) => {
    const { problemsOfGenerated } = await import('../serve/check.ts')
    return problemsOfGenerated({ text, path: corefile, dnsPort })
  }
}

async function print(input: Input, output: Output, plan: Plan): Promise<void> {
  const { network, corefile, rules } = plan
  const generated = await generateCorefile(corefile, checkOf(corefile))
  if (generated !== undefined && generated.problems.length > 0) {
    throw new ConfigError(generated.problems)
  }
  if (generated?.configMapError !== undefined) {
    output.stderr.write(`kubedoh: ignored ${corefile.configMap}: ${generated.configMapError}\n`)
  }
  const hasInterface = readFlag(input, 'setupinterface')
  const setup = [
    ...(generated === undefined
      ? []
      : [`cat > ${corefile.corefile} <<'EOF'\n${generated.text}EOF\n`]),
    ...(hasInterface ? [interfaceScript(network)] : []),
    ...(rules === undefined ? [] : [rulesScript(rules, network)]),
  ]
  const removal = [
    ...(rules === undefined ? [] : [rulesRemovalScript(rules, network)]),
    ...(hasInterface ? [interfaceRemovalScript(network)] : []),
  ]
  const undo = removal.join('').replace(/^/gm, '# ').trimEnd()
  output.stdout.write(`${setup.join('')}# On exit:\n${undo}\n`)
}

/** Serves without metrics while their port is in use, as NodeLocal DNSCache does. */
function metricsServer(address: string, metrics: Metrics, log: Log) {
  const format = (): Promise<string> => formatMetrics(metrics)
  const servers = new FeatureServers({ metrics, format, notReady: () => [] }, true)
  const ensure = async (): Promise<void> => {
    try {
      if (address !== '') await servers.apply([{ kind: 'metrics', address }])
    } catch (error) {
      if (!(error instanceof ListenError)) throw error
      log({ level: 'warning', message: `no metrics yet: ${error.message}` })
    }
  }
  return { ensure, close: () => servers.close() }
}

function serveOptions(input: Input, { corefile }: NodeCorefileOptions): ServeOptions {
  return {
    conf: corefile,
    dnsPort: parsePort(input.text('dns.port'), 'dns.port'),
    objects: [],
    etcd: '',
    files: '',
    kubeconfig: '',
    dohListen: '',
    insecure: false,
    isReplaceable: true,
    localAddresses: input.env('LOCAL_IPS'),
  }
}

function readNetwork(input: Input): NodeNetwork {
  const interfaceName = input.text('interfacename')
  if (!INTERFACE_NAME.test(interfaceName)) {
    throw new CommandError(`--interfacename "${interfaceName}" is not the name of an interface`)
  }
  const addresses = input
    .text('localip')
    .split(',')
    .map((text) => {
      const address = parseAddress(text.trim())
      if (address === undefined) throw new CommandError(`--localip "${text}" is not an address`)
      return formatAddress(address)
    })
  if (addresses.length > ADDRESSES_MAX) {
    throw new CommandError(
      `--localip has ${addresses.length} addresses, expected 1 to ${ADDRESSES_MAX}`,
    )
  }
  return {
    interfaceName,
    addresses: [...new Set(addresses)],
    dnsPort: parsePort(input.text('dns.port'), 'dns.port'),
    healthPort: parsePort(input.text('health-port'), 'health-port'),
  }
}

function readCorefileOptions(
  input: Input,
  { addresses, dnsPort }: NodeNetwork,
): NodeCorefileOptions {
  const template = input.text('basecorefile')
  const service = input.text('upstreamsvc')
  const variable = `${service.replaceAll('-', '_').toUpperCase()}_SERVICE_HOST`
  const clusterDns = input.env(variable)
  const needsIt = readTextFile(template)?.includes('__PILLAR__CLUSTER__DNS__') === true
  if (needsIt && parseAddress(clusterDns) === undefined) {
    throw new CommandError(
      `${variable} is not an address: create Service ${service} first, or pass --upstreamsvc`,
    )
  }
  const corefile = input.text('conf') === '' ? input.text('corefile') : input.text('conf')
  const domain = input.text('cluster-domain')
  const configMap = input.text('kubednscm')
  return { template, corefile, configMap, addresses, domain, dnsPort, clusterDns }
}

async function readRules(input: Input): Promise<RulesKind> {
  const rules = input.text('rules')
  if (rules === 'auto') return chooseRules()
  if (rules === 'iptables' || rules === 'nftables') return rules
  throw new CommandError(`--rules is "${rules}", expected auto, iptables or nftables`)
}

/** Parses a flag as Go does. @throws {CommandError} */
function readFlag(input: Input, name: FlagName): boolean {
  const isTrue = BOOLEANS.get(input.text(name))
  if (isTrue !== undefined) return isTrue
  throw new CommandError(`--${name} is "${input.text(name)}", expected true or false`)
}
