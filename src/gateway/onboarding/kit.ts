/**
 * The onboarding kit: files that make devices, browsers, CI jobs and programs use a gateway.
 * @module
 */

import { browserFiles } from './browser-files.ts'
import type { Kit, KitFile } from './kit-file.ts'
import { programFiles } from './program-files.ts'
import { systemFiles } from './system-files.ts'

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

/**
 * Checks what a kit is for.
 * @param gateway URL of the gateway; only its origin counts
 * @param token '' for a public gateway
 * @throws {KitError} for a URL without TLS, and for text that some file could not carry
 */
export function readKit(gateway: string, token: string, domains: readonly string[]): Kit {
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
  const { origin, hostname: host } = url
  const dohUrl = `${origin}${token === '' ? '' : `/t/${token}`}/dns-query`
  return { origin, host, dohUrl, domains: plain, token }
}

/** Returns the files of a kit, README first. Those for devices and browsers contain the token. */
export async function kitFiles(kit: Kit): Promise<readonly KitFile[]> {
  const files = [...(await systemFiles(kit)), ...browserFiles(kit), ...programFiles(kit)]
  return [{ name: 'README.md', type: 'text/markdown', text: formatReadme(kit, files) }, ...files]
}

function formatReadme(kit: Kit, files: readonly KitFile[]): string {
  const { domains, host, origin, token } = kit
  const secret = files.filter(({ text }) => token !== '' && text.includes(token))
  const list = secret.map(({ name }) => `\`${name}\``).join(', ')
  const intro = token === '' ? '' : `These files contain the token, so keep them secret: ${list}. `
  return `# Names of ${domains.join(', ')}

The gateway ${origin} resolves these names over DNS over HTTPS. On devices, all other names resolve as before.
${intro}The others read a token from the variable KUBEDOH_CLIENT_TOKEN, as it is in \`kubedoh-connect.env\`.

| for | do |
|---|---|
| macOS 11, iOS 14 | open \`apple.mobileconfig\` and install the profile in the system settings |
| Windows 11, Server 2022 | as an administrator: \`powershell -ExecutionPolicy Bypass -File windows.ps1\`; undo with \`-Remove\` |
| Linux with systemd-resolved | install kubedoh as \`/usr/local/bin/kubedoh\`, then \`install -D -m 600 kubedoh-connect.env /etc/kubedoh/connect.env\`, \`install -m 644 kubedoh-connect.service /etc/systemd/system/\`, \`systemctl enable --now kubedoh-connect\` |
| Chrome, Edge, Chromium on Linux | copy \`chromium-policies.json\` into \`/etc/opt/chrome/policies/managed\`, \`/etc/opt/edge/policies/managed\` or \`/etc/chromium/policies/managed\` |
| Chrome, Edge on Windows | open \`chrome-edge.reg\` |
| Firefox | copy \`firefox-policies.json\` to \`/etc/firefox/policies/policies.json\` (Linux), \`distribution\\policies.json\` beside firefox.exe, or \`Firefox.app/Contents/Resources/distribution/policies.json\` |
| Chrome on Android, if the gateway resolves all names | Settings, Privacy and security, Use secure DNS, and the URL in \`chromium-policies.json\` without \`{?dns}\` |
| GitHub Actions | commit \`action.yml\` and \`kubedoh-dns.sh\` to \`.github/actions/kubedoh\`; then \`uses: ./.github/actions/kubedoh\` with \`token: \${{ secrets.KUBEDOH_CLIENT_TOKEN }}\` |
| other CI, as root | \`npm install --global kubedoh\`, then \`sh kubedoh-dns.sh\` |
| Docker, devcontainers | \`Dockerfile\`, \`devcontainer.json\` (into \`.devcontainer\`) and \`kubedoh-dns.sh\` |
| programs | \`curl.sh\`, \`node.mjs\`, \`python.py\`, \`main.go\` |

- Android's "Private DNS" cannot use the gateway: it takes a hostname for DNS over TLS, without a path, so without a token, and sends
  all names to it.
- A browser with a policy sends every name to the gateway first. Prefer the setting of the system where there is one.
- All of these verify the certificate of ${host}: a private authority must be installed on the device first.
`
}
