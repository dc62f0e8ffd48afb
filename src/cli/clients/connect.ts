/**
 * `kubedoh connect`: a DNS server on loopback that sends chosen domains to a gateway, and split DNS
 * for them.
 * @module
 */

import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { NO_FILES } from '../../corefile/lexeme-stream.ts'
import { readCorefile } from '../../corefile/parse-corefile.ts'
import { ConfigError } from '../../corefile/problem.ts'
import { errorText } from '../../dns/bytes/unknown.ts'
import { nameOf } from '../../dns/names/name.ts'
import { formatRcode, RCODE } from '../../dns/names/rcode.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { parseResponse } from '../../dns/wire/message.ts'
import { writeQuery } from '../../dns/wire/write-query.ts'
import { askDoh } from '../../gateway/doh/doh-client.ts'
import type { LoadedCorefile } from '../../server/node/load-corefile.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { untilSignal } from '../../server/node/signals.ts'
import { Server } from '../../server/serve/server.ts'
import { parseListenAddress } from '../../server/sockets/listen-address.ts'
import { nextAfter401 } from '../credentials/gateway-login.ts'
import { LoginEnded } from '../credentials/stored-token.ts'
import { connectReason } from '../flags/authorities.ts'
import type { Input } from '../flags/flags.ts'
import { keptTokenOf, readGatewayUrl, storedTokenOf } from '../flags/operator-call.ts'
import { isRefusal, readGivenToken, type TokenSource, tokenSourceOf } from './client-token.ts'
import { formatSteps, planSplit, type Split, type SplitDnsSystem } from './split-dns.ts'
import { DOMAIN, SplitDnsSession } from './split-dns-session.ts'

const DOMAINS_MAX = 64
const PROBE_MS = 5000
/** How often the token is looked at: a login is renewed within its last minute. */
const RENEWAL_MS = 30_000
/** Looks between two renewals of a login that the gateway refuses all the same: ten minutes. */
const REFUSED_LOOKS = 20

/** Defaults by system. The record lasts as long as the settings: on Linux until a restart. */
const SYSTEMS: Readonly<Record<SplitDnsSystem, { listen: string; state: string }>> = {
  linux: { listen: '127.0.0.1:5300', state: '/run/kubedoh-connect.json' },
  macos: { listen: '127.0.0.1:5300', state: '/var/db/kubedoh-connect.json' },
  windows: { listen: '127.0.0.53:53', state: 'C:\\ProgramData\\kubedoh-connect.json' },
  none: { listen: '127.0.0.1:5300', state: '' },
}
const PLATFORMS: Readonly<Record<string, SplitDnsSystem>> = {
  linux: 'linux',
  darwin: 'macos',
  win32: 'windows',
}

/** The gateway's DNS over HTTPS, and the token for it. */
type Gateway = {
  readonly url: URL
  token: string
  readonly source: TokenSource
  /** The file of `--ca`; '' for the system's authorities. */
  readonly ca: string
}

/**
 * Runs the command until SIGINT, SIGTERM or SIGHUP; with `--print` changes nothing.
 * @param renewalMs how often it looks whether the login ends
 */
export async function runConnect(
  input: Input,
  output: Output,
  renewalMs: number = RENEWAL_MS,
): Promise<void> {
  const gateway = await readGateway(input, output)
  const split = readSplit(input, gateway)
  if (input.isSet('print')) {
    const { set, undo } = planSplit(split)
    const corefile = corefileOf(split, { ...gateway, token: gateway.token && 'TOKEN' })
    output.stdout.write(
      `# Corefile of the server on ${split.address}:${split.port}\n${corefile}` +
        `# set\n${formatSteps(set)}# undo\n${formatSteps(undo)}`,
    )
    return
  }
  const path = input.text('state') === '' ? SYSTEMS[split.system].state : input.text('state')
  const session = path === '' ? undefined : new SplitDnsSession(path)
  if (await session?.recover()) output.stderr.write('kubedoh: undid what a crashed run had set\n')
  await probe(input, { gateway, split, output })
  const server = await startServer(split, gateway, output)
  try {
    // A closed terminal sends SIGHUP.
    const signal = untilSignal(['SIGINT', 'SIGTERM', 'SIGHUP'])
    await session?.set(split)
    const domains = split.domains.join(', ')
    output.stdout.write(`ready: ${domains} by ${split.address}:${split.port}; Ctrl-C ends it\n`)
    const running = { gateway, split, server, output, warning: '', isBusy: false, pause: 0 }
    const renewal = setInterval(() => void keepToken(input, running), renewalMs)
    await signal.finally(() => clearInterval(renewal))
    const failures = (await session?.undo(split)) ?? []
    if (failures.length > 0) throw new CommandError(`Cannot undo all: ${failures.join('; ')}`)
  } finally {
    await server.stop()
  }
}

async function readGateway(input: Input, output: Output): Promise<Gateway> {
  const url = new URL(readGatewayUrl(input))
  if (url.pathname === '/') url.pathname = '/dns-query'
  const ca = input.text('ca') === '' ? '' : resolve(input.text('ca'))
  const source = tokenSourceOf(input)
  const token = source === 'login' ? await tokenOfLogin(input, url, output) : readGivenToken(input)
  return { url, token, source, ca }
}

/**
 * Finds the token of the login. On a laptop that is offline, one that has ended is renewed later.
 * @throws {LoginEnded} when the person has to log in again
 */
async function tokenOfLogin(input: Input, url: URL, output: Output): Promise<string> {
  try {
    return await storedTokenOf(input, url.href, 'token')
  } catch (error) {
    if (!(error instanceof CommandError) || error instanceof LoginEnded) throw error
    output.stderr.write(`kubedoh: ${error.message}\n`)
    return keptTokenOf(input, url.href)
  }
}

/** Reads the domains, the system and the server's address. @throws {CommandError} */
function readSplit(input: Input, { url }: Gateway): Split {
  const system = readSystem(input.text('system'))
  const domains = input.texts('domain').map((text) => {
    const domain = text.toLowerCase().replace(/\.$/, '')
    if (DOMAIN.test(domain)) return domain
    throw new CommandError(`--domain "${text}" is not a domain such as prod.example.org`)
  })
  if (domains.length > DOMAINS_MAX) {
    throw new CommandError(`${domains.length} domains, at most ${DOMAINS_MAX}`)
  }
  const around = domains.find((one) => `.${url.hostname}`.endsWith(`.${one}`))
  if (around !== undefined) {
    throw new CommandError(
      `The gateway ${url.hostname} is in --domain ${around}, which only it could resolve; use ` +
        'another name or its address',
    )
  }
  const listen = input.text('listen') === '' ? SYSTEMS[system].listen : input.text('listen')
  const { host = '', port } = parseListenAddress(listen)
  checkListen({ system, host, port })
  return { system, domains: [...new Set(domains)], address: host, port }
}

function readSystem(text: string): SplitDnsSystem {
  const system = text === '' ? PLATFORMS[process.platform] : text
  if (system === 'linux' || system === 'macos') return system
  if (system === 'windows' || system === 'none') return system
  throw new CommandError(
    `--system "${system ?? process.platform}" is not one of linux, macos, windows, none`,
  )
}

/** Rejects addresses beyond this machine, and those that the system's resolver cannot use. */
function checkListen({
  system,
  host,
  port,
}: {
  readonly system: SplitDnsSystem
  readonly host: string
  readonly port: number
}): void {
  const isLoopback = (isIP(host) === 4 && host.startsWith('127.')) || host === '::1'
  if (!isLoopback || port === 0) {
    throw new CommandError(`--listen "${host}:${port}" is not a loopback address with a port`)
  }
  if (system === 'windows' && port !== 53) {
    throw new CommandError('--listen needs port 53 on Windows, whose policy table has no ports')
  }
  if (system === 'macos' && host !== '127.0.0.1' && host !== '::1') {
    throw new CommandError('--listen needs 127.0.0.1 or ::1 on macOS, which has no other loopback')
  }
}

/** Returns the server's configuration: what `kubedoh serve` would run. */
function corefileOf({ domains, address, port }: Split, { url, token, ca }: Gateway): string {
  const to = new URL(url)
  const credentials = token === '' ? '' : `x:${encodeURIComponent(token)}@`
  const upstream = to.href.replace('://', `://${credentials}`)
  return [
    `${domains.map((domain) => `${domain}:${port}`).join(' ')} {`,
    `    bind ${address}`,
    '    errors',
    '    cache 30 {',
    '        serve_stale 1h verify 2s 30s 5s',
    '    }',
    `    forward . ${upstream} {`,
    ...(ca === '' ? [] : [`        tls "${ca}"`]),
    '        expire 60s',
    '        health_check 5s',
    '    }',
    '}',
    '',
  ].join('\n')
}

type Probed = {
  readonly gateway: Gateway
  readonly split: Split
  readonly output: Output
}

/**
 * Asks the gateway for each domain before anything changes. A laptop that is offline starts anyway.
 * @throws {CommandError} when the gateway refuses the token, or has no DNS over HTTPS there
 */
async function probe(input: Input, { gateway, split, output }: Probed): Promise<void> {
  const { url } = gateway
  const warn = (text: string): void => {
    output.stderr.write(`kubedoh: ${text}\n`)
  }
  if (
    gateway.source === 'login' &&
    gateway.token !== '' &&
    (await isTokenRefused(gateway, split))
  ) {
    gateway.token = await storedTokenOf(input, url.href, 'token', gateway.token)
  }
  await Promise.all(
    split.domains.map(async (domain) => {
      try {
        const rcode = parseResponse(await ask(gateway, domain))?.rcode ?? RCODE.SERVFAIL
        if (rcode === RCODE.NOERROR) return
        warn(
          `${url.host} answers ${formatRcode(rcode)} for ${domain}: check --domain and the token`,
        )
      } catch (error) {
        const reason = connectReason(error)
        if (!reason.startsWith('HTTP status ')) {
          warn(`${url.host} cannot be reached yet: ${reason}`)
          return
        }
        const hint = isRefusal(error)
          ? await nextAfter401(url.origin, 'pass a valid token, --token')
          : 'check --gateway'
        throw new CommandError(`${url.host} refuses DNS over HTTPS (${reason}); ${hint}`)
      }
    }),
  )
}

function ask({ url, token }: Gateway, domain: string): Promise<Uint8Array> {
  return askDoh(url.href, writeQuery({ name: nameOf(domain), type: TYPE.SOA, id: 0 }), {
    fetch: (to, request) => fetch(to, request),
    signal: AbortSignal.timeout(PROBE_MS),
    token: token === '' ? undefined : token,
  })
}

/** Returns whether the gateway answers 401; false while it cannot be reached. */
async function isTokenRefused(gateway: Gateway, { domains: [domain = '.'] }: Split) {
  return isRefusal(await ask(gateway, domain).catch((error: unknown) => error))
}

type Running = Probed & {
  readonly server: Server
  /** The last one: an issuer that is away for a night is one line. */
  warning: string
  /** Whether the last look at the token has not ended. */
  isBusy: boolean
  /** Looks until a refused login is renewed again. */
  pause: number
}

/**
 * Puts a newer token in the place of one that ends: of the file, or of the renewed login. A login
 * that the gateway refuses is renewed, too.
 */
async function keepToken(input: Input, running: Running): Promise<void> {
  const { gateway, output } = running
  if (gateway.source === 'flag' || gateway.token === '' || running.isBusy) return
  running.isBusy = true
  try {
    const found = await newestToken(input, running)
    if (found !== '' && found !== gateway.token) await replaceToken(running, found)
    running.warning = ''
  } catch (error) {
    const warning = `kubedoh: ${errorText(error)}\n`
    if (warning !== running.warning) output.stderr.write(warning)
    running.warning = warning
  } finally {
    running.isBusy = false
  }
}

async function newestToken(input: Input, running: Running): Promise<string> {
  const { gateway, split } = running
  if (gateway.source === 'file') return readGivenToken(input)
  const { href } = gateway.url
  const found = await storedTokenOf(input, href, 'token')
  if (running.pause > 0) running.pause--
  if (found !== gateway.token || running.pause > 0) return found
  if (!(await isTokenRefused(gateway, split))) return found
  running.pause = REFUSED_LOOKS
  return storedTokenOf(input, href, 'token', found)
}

async function replaceToken({ server, split, gateway }: Running, token: string): Promise<void> {
  await server.apply(loadedCorefile(split, { ...gateway, token }))
  gateway.token = token
}

function loadedCorefile(split: Split, gateway: Gateway): LoadedCorefile {
  const text = corefileOf(split, gateway)
  const corefile = readCorefile(text, 'the configuration of connect', NO_FILES)
  if (corefile.problems.length > 0) throw new ConfigError(corefile.problems)
  return { ...corefile, text }
}

async function startServer(split: Split, gateway: Gateway, output: Output): Promise<Server> {
  const nothing = { objects: [], etcd: '', files: '', kubeconfig: '', dohListen: '' }
  const options = { ...nothing, conf: '', dnsPort: 53, insecure: false, localAddresses: '' }
  const server = new Server(options, output)
  try {
    await server.start(loadedCorefile(split, gateway))
    return server
  } catch (error) {
    await server.close()
    throw error
  }
}
