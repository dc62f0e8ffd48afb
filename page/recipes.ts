/**
 * How to set up a device for this gateway: the commands, and the files of the onboarding kit.
 * @module
 */

/** Where the gateway is, and what the visitor has. */
export type Place = {
  readonly origin: string
  /** The token, '' without one. */
  readonly token: string
  /** A domain of the gateway, without a final dot. */
  readonly domain: string
}

/** One way to use the gateway. */
export type Recipe = {
  readonly title: string
  readonly text: string
  /** What to paste; '' for none. */
  readonly command: string
  /** File of the kit to download. */
  readonly file?: string
}

/** The systems that the page has recipes for. */
export const SYSTEMS = [
  'macOS',
  'iOS',
  'Windows',
  'Linux',
  'Android',
  'Browsers',
  'Terminal',
  'CI',
] as const

/** A system that the page has recipes for. */
export type System = (typeof SYSTEMS)[number]

/** Guesses the visitor's system by the `User-Agent` of a browser. */
export function systemOf(userAgent: string): System {
  if (/iPhone|iPad/.test(userAgent)) return 'iOS'
  if (/Android/.test(userAgent)) return 'Android'
  if (/Windows/.test(userAgent)) return 'Windows'
  return /Mac OS/.test(userAgent) ? 'macOS' : 'Linux'
}

/** Returns the URL of DNS over HTTPS, with the token in its path. */
export function dohUrl({ origin, token }: Place): string {
  return `${origin}${token === '' ? '' : `/t/${token}`}/dns-query`
}

/** Returns whether devices can use the gateway: they send DNS over HTTPS by `https:` only. */
export function isSecure({ origin }: Place): boolean {
  return origin.startsWith('https:')
}

/** Returns the recipes of a system. Those for `http:` origins are for terminals only. */
export function recipesOf(system: System, place: Place): readonly Recipe[] {
  if (system === 'Terminal') return terminal(place)
  return isSecure(place) ? DEVICES[system](place) : []
}

const SECURE_DNS =
  'Only if this gateway resolves all names: Settings, Privacy and security, Use secure DNS.'
const FIREFOX = `Place it as policies.json in /etc/firefox/policies on Linux, in Contents/Resources/distribution
of Firefox.app, or in distribution beside firefox.exe. Then restart Firefox.`
const PROFILE = 'The profile sends only the domains of your clusters to this gateway.'

const DEVICES: Readonly<Record<Exclude<System, 'Terminal'>, (place: Place) => readonly Recipe[]>> =
  {
    macOS: (place) => [
      {
        title: 'Install a profile',
        text: `${PROFILE} Open the file, then System Settings, General, Device Management.`,
        command: '',
        file: 'apple.mobileconfig',
      },
      connect(place, 'sudo -E kubedoh'),
    ],
    iOS: () => [
      {
        title: 'Install a profile',
        text: `${PROFILE} Download it on the device, open it in the Files app, then Settings.`,
        command: '',
        file: 'apple.mobileconfig',
      },
    ],
    Windows: (place) => [
      {
        title: 'Run a script',
        text: 'As an administrator, on Windows 11 or Server 2022. Adds rules for these domains.',
        command: 'powershell -ExecutionPolicy Bypass -File windows.ps1',
        file: 'windows.ps1',
      },
      connect(place, 'kubedoh', (token) => `$env:KUBEDOH_CLIENT_TOKEN = "${token}"`),
    ],
    Linux: (place) => [connect(place, 'sudo -E kubedoh')],
    Android: (place) => [
      {
        title: 'Chrome',
        text: `${SECURE_DNS} “Private DNS” takes the name in the kit’s hostname.txt.`,
        command: dohUrl(place),
      },
    ],
    Browsers: () => [
      {
        title: 'Firefox',
        text: FIREFOX,
        command: '',
        file: 'firefox-policies.json',
      },
      {
        title: 'Chrome and Chromium on Linux',
        text: 'Place it in /etc/opt/chrome/policies/managed or /etc/chromium/policies/managed.',
        command: '',
        file: 'chromium-policies.json',
      },
      {
        title: 'Chrome and Edge on Windows',
        text: 'Open this file as an administrator, and restart the browser.',
        command: '',
        file: 'chrome-edge.reg',
      },
    ],
    CI: () => [
      {
        title: 'GitHub Actions',
        text: 'Commit this file and kubedoh-dns.sh to .github/actions/kubedoh.',
        command: '',
        file: 'action.yml',
      },
      {
        title: 'Any other CI, as root',
        text: 'Put the token into the variable KUBEDOH_CLIENT_TOKEN.',
        command: 'npm install --global kubedoh\nsh kubedoh-dns.sh',
        file: 'kubedoh-dns.sh',
      },
    ],
  }

function connect(
  { origin, token, domain }: Place,
  program: string,
  exportOf = (value: string): string => `export KUBEDOH_CLIENT_TOKEN=${value}`,
): Recipe {
  const secret = token === '' ? '' : `${exportOf(token)}\n`
  return {
    title: 'Connect with kubedoh',
    text: 'Sends only this domain to the gateway, and undoes everything when it ends.',
    command: `${secret}${program} connect --gateway ${origin} --domain ${domain}`,
  }
}

function terminal(place: Place): readonly Recipe[] {
  const { origin, token, domain } = place
  const name = `SERVICE.NAMESPACE.svc.${domain}`
  const bearer = token === '' ? '' : `-H "Authorization: Bearer ${token}" `
  const json: Recipe = {
    title: 'Query with curl',
    text: 'The response is JSON.',
    command: `curl ${bearer}"${origin}/resolve?name=${name}&type=A"`,
  }
  if (!isSecure(place)) return [json]
  const resolve: Recipe = {
    title: 'Let curl resolve by the gateway',
    text: 'curl then opens the page of a Service by its name.',
    command: `curl --doh-url "${dohUrl(place)}" http://${name}/`,
  }
  return [json, resolve]
}
