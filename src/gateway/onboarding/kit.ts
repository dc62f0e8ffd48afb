/**
 * The onboarding kit: files that make devices, browsers, CI jobs and programs use a gateway.
 * @module
 */

import { VERSION } from '../../dns/telemetry/version.ts'
import { sha256Hex } from '../../snapshot/format/signature.ts'
import { TEMPLATES } from '../built/assets.js'

/** What a kit is for, checked: its texts need no escaping in any of the files. */
export type Kit = {
  /** Origin of the gateway, `https://HOST`. */
  readonly origin: string
  /** Name or address of the gateway, without a port. */
  readonly host: string
  /** URL of the gateway's DNS over HTTPS, with the token in its path. */
  readonly dohUrl: string
  /** Domains to resolve by the gateway, without a final dot. */
  readonly domains: readonly string[]
  /** The client token; '' for a public gateway. */
  readonly token: string
  /** The hostname with the token in it; '' where there is none. */
  readonly hostname: string
  readonly audiences: JobAudiences
}

/** The audience that a job of a CI system asks its identity for; '' where it needs a token. */
export type JobAudiences = { readonly github: string; readonly gitlab: string }

/** What some gateways have more; nothing by default. */
type KitExtras = Partial<Pick<Kit, 'audiences' | 'hostname'>>

const NO_AUDIENCES: JobAudiences = { github: '', gitlab: '' }

/** A file of the kit. */
export type KitFile = {
  /** Never contains the token. */
  readonly name: string
  /** Media type. */
  readonly type: string
  readonly text: string
}

/** A gateway, token or domain for which no kit can be made. The message never has the token. */
export class KitError extends Error {
  override readonly name = 'KitError'
}

/** Most domains of a kit, as of `kubedoh connect`. */
const DOMAINS_MAX = 64
const HOST = /^(?:[a-z0-9][a-z0-9.-]{0,252}|\[[0-9a-f:.]+\])$/
const DOMAIN = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*$/
/** Text that URLs, shells, XML and JSON take as it is; every token of `kubedoh token create`. */
const TOKEN = /^[\w.~-]{0,512}$/

/** An audience that every file can carry. */
const AUDIENCE = /^[\w.:/~-]{0,256}$/

/**
 * Checks what a kit is for.
 * @param gateway URL of the gateway; only its origin counts
 * @param token '' for a public gateway
 * @param extras audiences are those of the gateway's issuers, for makers of tokens only; else jobs
 *   need a token
 * @throws {KitError} for a URL without TLS, and for text that some file could not carry
 */
export function readKit(
  gateway: string,
  token: string,
  domains: readonly string[],
  extras: KitExtras = {},
): Kit {
  const { audiences = NO_AUDIENCES, hostname = '' } = extras
  const url = URL.canParse(gateway) ? new URL(gateway) : undefined
  if (url?.protocol !== 'https:' || !HOST.test(url.hostname)) {
    const why = 'devices send DNS over HTTPS to https:// URLs only'
    throw new KitError(`"${gateway}" is not a URL such as https://dns.example.org: ${why}`)
  }
  const plain = [...new Set(domains.map((one) => one.toLowerCase().replace(/\.$/, '')))]
  const wrong = plain.find((domain) => !DOMAIN.test(domain))
  if (wrong !== undefined) {
    throw new KitError(`"${wrong.slice(0, 80)}" is not a domain such as prod.example.org`)
  }
  if (plain.length === 0 || plain.length > DOMAINS_MAX) {
    throw new KitError(`${plain.length} domains, a kit needs 1 to ${DOMAINS_MAX}`)
  }
  if (!TOKEN.test(token)) throw new KitError('The token has characters that URLs cannot carry')
  if (!Object.values(audiences).every((one) => AUDIENCE.test(one))) {
    throw new KitError('An audience has characters that shells and YAML do not take as they are')
  }
  const { origin, hostname: host } = url
  const dohUrl = `${origin}${token === '' ? '' : `/t/${token}`}/dns-query`
  if (hostname !== '' && !HOST.test(hostname)) throw new KitError('The hostname is none')
  return { origin, host, dohUrl, domains: plain, token, hostname, audiences }
}

/** Gets a token for the identity of a job; only where the gateway has an issuer for one. */
const TOKEN_SCRIPT = 'kubedoh-token.sh'

/** Settings of clients that take a hostname; only where the gateway has one for the token. */
const HOST_FILE = 'hostname.txt'

/** The files after the README with their media types, as the README lists those with the token. */
const FILES: readonly (readonly [name: string, type: string])[] = [
  // Apple's `mdm/profiles/com.apple.dnsSettings.managed.yaml` documents its keys.
  ['apple.mobileconfig', 'application/x-apple-aspen-config'],
  // A rule of the Name Resolution Policy Table names the gateway's addresses; Windows upgrades
  // queries to them by the template. It runs again without harm, also after they changed.
  ['windows.ps1', 'text/plain'],
  ['kubedoh-connect.service', 'text/plain'],
  ['kubedoh-connect.env', 'text/plain'],
  // chromeenterprise.google/policies: "automatic" falls back to the system, "secure" does not.
  ['chromium-policies.json', 'application/json'],
  ['chrome-edge.reg', 'text/plain'],
  // Firefox distrusts private addresses of a server, which clusters have.
  ['firefox-policies.json', 'application/json'],
  // glibc and musl try the next server of resolv.conf after REFUSED.
  ['kubedoh-dns.sh', 'text/plain'],
  ['action.yml', 'text/plain'],
  [TOKEN_SCRIPT, 'text/plain'],
  ['Dockerfile', 'text/plain'],
  ['devcontainer.json', 'application/json'],
  [HOST_FILE, 'text/plain'],
  ['curl.sh', 'text/plain'],
  ['node.mjs', 'text/plain'],
  ['python.py', 'text/plain'],
  ['main.go', 'text/plain'],
]
/** The host of a URL that is an address: `URL` writes IPv4 with decimal digits. */
const ADDRESS = /^(?:\[.*\]|[\d.]+)$/
const PLACE = /\$\{(\w+)\}/g

/** Returns the files of a kit, README first. Those for devices and browsers contain the token. */
export async function kitFiles(kit: Kit): Promise<readonly KitFile[]> {
  const { token, audiences } = kit
  const values = await valuesOf(kit)
  const hasIdentities = Object.values(audiences).some((audience) => audience !== '')
  const names = FILES.filter(
    ([name]) =>
      (name !== TOKEN_SCRIPT || hasIdentities) && (name !== HOST_FILE || kit.hostname !== ''),
  )
  const files = names.map(([name, type]) => {
    const text = fill(name, values)
    const isForWindows = /\.(?:ps1|reg)$/.test(name)
    return { name, type, text: isForWindows ? text.replaceAll('\n', '\r\n') : text }
  })
  const secret = files.filter(
    ({ name, text }) => name === HOST_FILE || (token !== '' && text.includes(token)),
  )
  const list = secret.map(({ name }) => `\`${name}\``).join(', ')
  const secrets =
    token === '' ? '' : `These files contain the token, so keep them secret: ${list}. `
  const hostLine = kit.hostname === '' ? NO_HOSTNAME : HOSTNAME
  const readme = fill('README.md', { ...values, secrets, hostLine })
  return [{ name: 'README.md', type: 'text/markdown', text: readme }, ...files]
}

/** Values of places such as `${origin}`; programs have other places of their own. */
type Values = Readonly<Record<string, string>>

function fill(name: string, values: Values): string {
  const text = TEMPLATES[name]
  if (text === undefined) throw new TypeError(`The kit must have a template of ${name}`)
  return text.replace(PLACE, (place, key) => values[key] ?? place)
}

async function valuesOf(kit: Kit): Promise<Values> {
  const { origin, host, dohUrl, domains, token, hostname, audiences } = kit
  const each = (format: (domain: string) => string, between = ', '): string =>
    domains.map(format).join(between)
  return {
    origin,
    host,
    dohUrl,
    token,
    tokenHost: hostname,
    version: VERSION,
    domains: domains.join(', '),
    authority: origin.replace('https://', ''),
    flags: each((domain) => `--domain ${domain}`, ' '),
    matchDomains: each((domain) => `<string>${domain}</string>`, '\n\t\t\t\t\t'),
    namespaces: each((domain) => `'.${domain}'`),
    suffixes: each((domain) => `".${domain}"`),
    addresses: ADDRESS.test(host)
      ? `@('${host.replace(/[[\]]/g, '')}')`
      : `@(Resolve-DnsName -Name '${host}' -Type A_AAAA |
        Where-Object { $_.IPAddress } | ForEach-Object { $_.IPAddress })`,
    ...jobValues(audiences),
    profileUuid: await uuidOf(`${origin} profile`),
    dnsUuid: await uuidOf(origin),
  }
}

/** Returns what the files say of CI jobs, which need a secret or have an identity. */
function jobValues({ github, gitlab }: JobAudiences): Values {
  const secret = 'client token of the gateway, from a secret'
  const rows = {
    github: github === '' ? GITHUB_SECRET : GITHUB_IDENTITY,
    gitlab: gitlab === '' ? '' : GITLAB_IDENTITY.replace('AUDIENCE', gitlab),
  }
  return {
    audience: github,
    githubRow: rows.github,
    gitlabRow: rows.gitlab,
    isTokenRequired: String(github === ''),
    tokenInput: github === '' ? secret : `${secret}; without it the identity of the job counts`,
    takeToken: github === '' ? '' : TAKE_TOKEN,
  }
}

/** Lines of the README, which never has the hostname: it contains the token. */
const HOSTNAME =
  '- Clients that take a hostname only, such as Android\'s "Private DNS", CoreDNS and AdGuard ' +
  'Home: `hostname.txt` has it, and their settings.\n'
const NO_HOSTNAME =
  '- Android\'s "Private DNS" cannot use the gateway: it takes a hostname, and the gateway has ' +
  'none with the token in it.\n'

const ACTION = 'to `.github/actions/kubedoh`; then `uses: ./.github/actions/kubedoh`'
const GITHUB_SECRET =
  `commit \`action.yml\` and \`kubedoh-dns.sh\` ${ACTION} with ` +
  // biome-ignore lint/suspicious/noTemplateCurlyInString: GitHub's own place
  '`token: ${{ secrets.KUBEDOH_CLIENT_TOKEN }}`'
const GITHUB_IDENTITY =
  `commit \`action.yml\`, \`kubedoh-token.sh\` and \`kubedoh-dns.sh\` ${ACTION} in a job with ` +
  '`permissions: { id-token: write, contents: read }`. It needs no secret'
const GITLAB_IDENTITY =
  '| GitLab CI, as root, without a secret | `id_tokens: { KUBEDOH_JWT: { aud: AUDIENCE } }`, ' +
  '`npm install --global kubedoh`, then ' +
  '`KUBEDOH_CLIENT_TOKEN=$(sh kubedoh-token.sh) sh kubedoh-dns.sh` |\n'
/** The first lines of a step, which keep the token out of the log. */
const TAKE_TOKEN = `if [ -z "$KUBEDOH_CLIENT_TOKEN" ]; then
          KUBEDOH_CLIENT_TOKEN=$(sh "$GITHUB_ACTION_PATH/kubedoh-token.sh")
        fi
        echo "::add-mask::$KUBEDOH_CLIENT_TOKEN"
        `

/** Returns a UUID of version 8 (RFC 9562 §5.8): a device replaces the profile that has the same. */
async function uuidOf(text: string): Promise<string> {
  const hex = await sha256Hex(new TextEncoder().encode(text))
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ]
  return [...parts, hex.slice(20, 32)].join('-').toUpperCase()
}
