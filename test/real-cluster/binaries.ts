/**
 * Real servers for comparison: Kubernetes, its etcd and CoreDNS, built from their Go modules into
 * the user's cache.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../../build/cache-folder.ts'

/** Version of Kubernetes that suites build. */
export const KUBERNETES: string = '1.34.4'
/** kube-apiserver streams lists only with an etcd of 3.4.31, 3.5.13 or newer: Debian has 3.4.30. */
const ETCD = '3.6.4'
/** Version of CoreDNS that suites build and compare with. */
export const COREDNS: string = '1.14.7'
const DNSTAP = '0.4.0'
/** The newest version that is available as a Go module. */
const H2SPEC = '2.2.1+incompatible'
const HELM = '3.19.0'
/** The newest version that Go 1.26 builds. */
const EXTERNAL_DNS = '0.21.0'
/** A server of S3's protocol over a folder, whose conditional writes are atomic since 1.8. */
const VERSITYGW = '1.8.0'
/** The Prometheus operator, for its custom resource definitions. */
const PROMETHEUS_OPERATOR = '0.85.0'
const CACHE = cacheFolder('programs')
/** Time for one command of Go: twice what the longest build takes on two busy cores. */
const GO_MS = 25 * 60_000

/** Paths of the binaries. */
export type Binaries = {
  /** Every part of Kubernetes: its first argument is the part's name, such as `kube-apiserver`. */
  readonly kubernetes: string
  readonly etcd: string
  readonly coredns: string
}

/** Programs that are built side by side, by the name of their file without the version. */
export const BUILDS: Readonly<
  Record<string, { readonly version: string; readonly build: () => string }>
> = {
  kubernetes: { version: KUBERNETES, build: buildKubernetes },
  coredns: { version: COREDNS, build: prepareCoreDns },
  etcd: { version: ETCD, build: buildEtcd },
  helm: { version: HELM, build: prepareHelm },
}

/**
 * Builds or finds the binaries; the first build takes ten minutes and more.
 * @param also other programs of `BUILDS` to build with them
 * @returns what is missing, if this script cannot install it
 */
export function prepareBinaries(...also: readonly string[]): Binaries | string {
  if (!isCommand('go', 'version')) return 'Go is missing: install golang'
  if (!isCommand('openssl', 'version')) return 'openssl is missing'
  buildSideBySide(['kubernetes', 'coredns', 'etcd', ...also])
  return { kubernetes: buildKubernetes(), coredns: prepareCoreDns(), etcd: buildEtcd() }
}

/**
 * Builds what is missing of several programs, each in a process of its own: a build waits for
 * downloads and its linker half of the time. One that fails is tried again when it is needed.
 */
function buildSideBySide(names: readonly string[]): void {
  const missing = names.filter(
    (name) => !existsSync(join(CACHE, `${name}-${BUILDS[name]?.version}`)),
  )
  if (missing.length < 2) return
  const program = join(import.meta.dirname, 'build-program.ts')
  const script = `${missing.map((name) => `"$0" "$1" ${name} &`).join(' ')} wait`
  spawnSync('sh', ['-c', script, process.execPath, program], { stdio: 'inherit' })
}

function isCommand(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args).status === 0
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

/** Builds or finds external-dns, with the clients of all its providers. @returns its path */
export function prepareExternalDns(): string {
  return prepareProgram('external-dns', EXTERNAL_DNS, 'sigs.k8s.io/external-dns')
}

/** Builds or finds versitygw, a server of S3. @returns its path, in a list, or what is missing */
export function prepareVersitygw(): readonly [string] | string {
  if (!isCommand('go', 'version')) return 'Go is missing: install golang'
  return [prepareProgram('versitygw', VERSITYGW, 'github.com/versity/versitygw/cmd/versitygw')]
}

/** Builds or finds helm. @returns its path */
export function prepareHelm(): string {
  return prepareProgram('helm', HELM, 'helm.sh/helm/v3/cmd/helm')
}

/** Downloads or finds the Prometheus operator's definitions. @returns their folder */
export function prepareOperatorDefinitions(): string {
  const module = 'github.com/prometheus-operator/prometheus-operator'
  mkdirSync(CACHE, { recursive: true })
  const version = `${module}@v${PROMETHEUS_OPERATOR}`
  const { Dir: folder } = JSON.parse(go(CACHE, ['mod', 'download', '-json', version]))
  return join(String(folder), 'example/prometheus-operator-crd')
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

/**
 * Links every part into one program, which takes a sixth of the time that six programs take.
 * Clients cannot parse the server's version unless it is set at link time.
 */
function buildKubernetes(): string {
  return buildInModule({
    name: 'kubernetes',
    version: KUBERNETES,
    args: ['build', '.'],
    flags: versionFlags(),
    prepare: (folder) => {
      copyFileSync(join(import.meta.dirname, 'kubernetes.go'), join(folder, 'main.go'))
      return goModOfKubernetes(folder, 'kubedoh.test/kubernetes')
    },
  })
}

/** Builds or finds kubeadm, of the packages of Kubernetes. @returns its path */
export function prepareKubeadm(): string {
  return buildInModule({
    name: 'kubeadm',
    version: KUBERNETES,
    args: ['build', 'k8s.io/kubernetes/cmd/kubeadm'],
    flags: versionFlags(),
    prepare: (folder) =>
      `${goModOfKubernetes(folder, 'kubedoh.test/kubeadm')}tool k8s.io/kubernetes/cmd/kubeadm\n`,
  })
}

function versionFlags(): string[] {
  const [major = '', minor = ''] = KUBERNETES.split('.')
  return ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((name) => [
    `-X ${name}.gitVersion=v${KUBERNETES}`,
    `-X ${name}.gitMajor=${major}`,
    `-X ${name}.gitMinor=${minor}`,
  ])
}

/** `go install` refuses etcd's own main package, because its module has replace directives. */
function buildEtcd(): string {
  return buildInModule({
    name: 'etcd',
    version: ETCD,
    args: ['build', '.'],
    prepare: (folder) => {
      writeFileSync(join(folder, 'main.go'), ETCD_MAIN)
      return `module kubedoh.test/etcd\ngo 1.24.0\nrequire go.etcd.io/etcd/server/v3 v${ETCD}\n`
    },
  })
}

/** A program that is built in a Go module of its own. */
export type GoProgram = {
  readonly name: string
  readonly version: string
  /** Folder of the module, in the cache; default: the name. */
  readonly folder?: string
  /**
   * Writes the sources into the folder. @returns the text of go.mod, which `go mod tidy`
   * completes
   */
  readonly prepare: (folder: string) => string
  /** The command of `go` that builds it, and the package. */
  readonly args: readonly [string, ...string[]]
  /** Flags of the linker. */
  readonly flags?: readonly string[]
}

/** Builds or finds a program: another version is built again. @returns its path */
export function buildInModule(program: GoProgram): string {
  const { name, version, folder: room = name, prepare, args, flags = [] } = program
  const path = join(CACHE, `${name}-${version}`)
  if (existsSync(path)) return path
  say(`building ${name}-${version}: up to ten minutes on two cores, this once`)
  const folder = join(CACHE, room)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'go.mod'), prepare(folder))
  go(folder, ['mod', 'tidy'])
  const [command, ...rest] = args
  const linked = `-ldflags=${['-s -w', ...flags].join(' ')}`
  go(folder, [command, '-trimpath', linked, '-o', `${path}.new`, ...rest])
  renameSync(`${path}.new`, path)
  return path
}

/**
 * Returns the go.mod of a module that imports Kubernetes. `go install` refuses Kubernetes, whose
 * staging modules are published separately.
 */
export function goModOfKubernetes(folder: string, name: string): string {
  const module = `k8s.io/kubernetes@v${KUBERNETES}`
  const { GoMod: goMod } = JSON.parse(go(folder, ['mod', 'download', '-json', module]))
  const staging = KUBERNETES.replace(/^1\./, '0.')
  const replaced = readFileSync(String(goMod), 'utf8').matchAll(
    /^\s*(k8s\.io\/\S+) => \.\/staging/gm,
  )
  const replaces = [...replaced].map(([, path]) => `replace ${path} => ${path} v${staging}`)
  return [
    `module ${name}`,
    'go 1.24.0',
    `require k8s.io/kubernetes v${KUBERNETES}`,
    `require k8s.io/component-base v${staging}`,
    `require k8s.io/kubectl v${staging}`,
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
    timeout: GO_MS,
  })
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

const ETCD_MAIN = `package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
`
