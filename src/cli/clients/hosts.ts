/**
 * `kubedoh hosts`: keeps addresses of Services in the hosts file of a node.
 * @module
 */
import { isIP } from 'node:net'
import { sleep } from '../../cluster/api/backoff.ts'
import { nameOf, parseName } from '../../dns/names/name.ts'
import { Metrics } from '../../dns/telemetry/metrics.ts'
import { writeQuery } from '../../dns/wire/write-query.ts'
import { findService } from '../../operators/node-local/find-service.ts'
import { HostsUpdater } from '../../operators/node-local/hosts-updater.ts'
import { random16 } from '../../server/keys/random16.ts'
import { CommandError, createLog, type Output } from '../../server/node/output.ts'
import { untilSignal } from '../../server/node/signals.ts'
import { parseListenAddress } from '../../server/sockets/listen-address.ts'
import { exchange } from '../../server/upstream/exchange.ts'
import { listenStatus } from '../export/export-status.ts'
import { readInterval } from '../flags/duration.ts'
import type { Input } from '../flags/flags.ts'

const TIMEOUT_MS = 2000
const SERVICES_MAX = 256
/** A hostname with or without dots; anything else could add lines to the file. */
const HOSTNAME = /^[a-z0-9_]([-a-z0-9_.]*[a-z0-9])?$/i

/** Runs the command: once, or every `--syncinterval` until SIGINT or SIGTERM. */
export async function runHosts(input: Input, output: Output): Promise<void> {
  const seconds = readInterval(input)
  const metrics = new Metrics()
  const updater = createUpdater(input, output, metrics)
  if (input.isSet('print')) {
    output.stdout.write(Buffer.from(await updater.preview(), 'latin1'))
    return
  }
  if (input.isSet('once')) {
    if (await updater.update()) return
    throw new CommandError('Not all entries are up to date; the log has the reasons')
  }
  let isUpdated = false
  const status = await listenStatus(input.text('listen'), {
    metrics,
    isReady: () => isUpdated,
    notReady: () => 'no complete update yet',
  })
  const ended = new AbortController()
  const signal = untilSignal().finally(() => ended.abort())
  while (!ended.signal.aborted) {
    isUpdated = (await updater.update()) || isUpdated
    await sleep(seconds * 1000, ended.signal)
  }
  await signal
  await status?.close()
}

function createUpdater(input: Input, output: Output, metrics: Metrics): HostsUpdater {
  const services = input
    .text('services')
    .split(/[,\s]+/)
    .filter((service) => service !== '')
  const domain = input.text('cluster-domain').replace(/\.$/, '')
  for (const name of [...services, domain]) {
    if (HOSTNAME.test(name) && parseName(`${name}.${domain}`) !== undefined) continue
    throw new CommandError(`"${name}" is not a hostname, such as web.shop.svc`)
  }
  if (services.length === 0 || services.length > SERVICES_MAX) {
    throw new CommandError(`--services has ${services.length} names, expected 1 to ${SERVICES_MAX}`)
  }
  const zone = nameOf(domain)
  const upstream = { transport: 'dns', ...parseNameserver(input.text('nameserver')) } as const
  return new HostsUpdater({
    path: input.text('hosts-file'),
    services,
    domain,
    find: (service) => {
      const name = nameOf(`${service}.${domain}`)
      return findService(name, zone, (type, protocol) => {
        const message = writeQuery({ name, type, id: random16() })
        return exchange(upstream, message, { protocol, timeoutMs: TIMEOUT_MS })
      })
    },
    log: createLog(output),
    metrics,
  })
}

/** Parses `ADDRESS` or `ADDRESS:PORT`. A name would need the server that it names. */
function parseNameserver(text: string): { readonly address: string; readonly port: number } {
  if (isIP(text) !== 0) return { address: text, port: 53 }
  const { host = '', port } = parseListenAddress(text)
  if (isIP(host) !== 0) return { address: host, port }
  throw new CommandError(`--nameserver "${text}" is not ADDRESS or ADDRESS:PORT`)
}
