/**
 * Real servers for comparison: kube-apiserver and CoreDNS, built from their Go modules into the
 * user's cache, and the system's etcd.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../cache-folder.ts'

const KUBERNETES = '1.34.4'
/** Version of CoreDNS that suites build and compare with. */
export const COREDNS: string = '1.14.7'
const DNSTAP = '0.4.0'
/** The newest version that is available as a Go module. */
const H2SPEC = '2.2.1+incompatible'
const CACHE = cacheFolder('programs')

/** Paths of the binaries. */
export type Binaries = {
  readonly apiServer: string
  readonly etcd: string
  readonly coredns: string
}

/**
 * Builds or finds the binaries; the first build takes some minutes.
 * @returns what is missing, if this script cannot install it
 */
export function prepareBinaries(): Binaries | string {
  if (!isCommand('go', 'version')) return 'Go is missing: install golang'
  if (!isCommand('openssl', 'version')) return 'openssl is missing'
  const etcd = findEtcd()
  if (etcd === undefined) return 'etcd is missing: install etcd-server'
  return { apiServer: buildApiServer(), coredns: prepareCoreDns(), etcd }
}

function isCommand(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args).status === 0
}

function findEtcd(): string | undefined {
  if (isCommand('etcd', '--version')) return 'etcd'
  if (process.getuid?.() !== 0) return undefined
  say('installing etcd-server')
  const install = spawnSync('apt-get', [
    'install',
    '-y',
    '-q',
    '--no-install-recommends',
    'etcd-server',
  ])
  return install.status === 0 && isCommand('etcd', '--version') ? 'etcd' : undefined
}

/** Builds or finds CoreDNS. @returns its path */
export function prepareCoreDns(): string {
  return prepareProgram('coredns', COREDNS, 'github.com/coredns/coredns')
}

/** Builds or finds dnstap's collector. @returns its path */
export function prepareDnstap(): string {
  return prepareProgram('dnstap', DNSTAP, 'github.com/dnstap/golang-dnstap/dnstap')
}

/** Builds or finds h2spec, the conformance tests of RFC 7540 and RFC 7541. @returns its path */
export function prepareH2spec(): string {
  return prepareProgram('h2spec', H2SPEC, 'github.com/summerwind/h2spec/cmd/h2spec')
}

function prepareProgram(name: string, version: string, module: string): string {
  const path = join(CACHE, `${name}-${version}`)
  if (existsSync(path)) return path
  say(`building ${name} ${version}`)
  const folder = join(CACHE, name)
  mkdirSync(folder, { recursive: true })
  const environment = { GOBIN: folder, GOFLAGS: '-trimpath' }
  go(folder, ['install', `${module}@v${version}`], environment)
  renameSync(join(folder, name), path)
  return path
}

/** The API server's module depends on staging modules that are published separately. */
function buildApiServer(): string {
  const path = join(CACHE, `kube-apiserver-${KUBERNETES}`)
  if (existsSync(path)) return path
  say(`building kube-apiserver ${KUBERNETES}: some minutes, this once`)
  const folder = join(CACHE, 'kube-apiserver')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'main.go'), MAIN_GO)
  writeFileSync(join(folder, 'go.mod'), formatGoMod(folder))
  go(folder, ['mod', 'tidy'])
  const [major = '', minor = ''] = KUBERNETES.split('.')
  const version = 'k8s.io/component-base/version'
  const flags = [
    '-s -w',
    `-X ${version}.gitVersion=v${KUBERNETES}`,
    `-X ${version}.gitMajor=${major}`,
    `-X ${version}.gitMinor=${minor}`,
  ]
  go(folder, ['build', '-trimpath', `-ldflags=${flags.join(' ')}`, '-o', `${path}.new`, '.'])
  renameSync(`${path}.new`, path)
  return path
}

function formatGoMod(folder: string): string {
  const module = `k8s.io/kubernetes@v${KUBERNETES}`
  const { GoMod: goMod } = JSON.parse(go(folder, ['mod', 'download', '-json', module]))
  const staging = KUBERNETES.replace(/^1\./, '0.')
  const replaced = readFileSync(String(goMod), 'utf8').matchAll(
    /^\s*(k8s\.io\/\S+) => \.\/staging/gm,
  )
  const replaces = [...replaced].map(([, name]) => `replace ${name} => ${name} v${staging}`)
  return [
    'module kubedoh.test/kube-apiserver',
    'go 1.24.0',
    `require k8s.io/kubernetes v${KUBERNETES}`,
    `require k8s.io/component-base v${staging}`,
    ...replaces,
    '',
  ].join('\n')
}

function go(
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): string {
  return execFileSync('go', args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  })
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

const MAIN_GO = `package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
`
