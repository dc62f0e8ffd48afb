import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { describe, type TestContext, test } from 'vitest'
import { parse } from 'yaml'
import { bundleWorker } from '../../../build/worker.ts'
import { VERSION } from '../../../src/dns/telemetry/version.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { runCli } from '../run-cli.ts'

const ROOT = join(import.meta.dirname, '../../..')

const COMMAND = [join(ROOT, 'src/cli/run.ts'), 'deploy', '--', '--dry-run']

/** Writes a folder, and into it what `npm install` would. */
async function initInstalled(t: TestContext, name: string, ...flags: string[]): Promise<string> {
  const folder = join(temporaryFolder(t), name)
  const ran = await runCli(['init', 'worker', folder, 'k8s.test', '--cluster', 'a', ...flags])
  assert.equal(ran.status, 0, ran.stderr)
  const packaged = join(folder, 'node_modules/kubedoh/dist')
  mkdirSync(packaged, { recursive: true })
  writeFileSync(join(packaged, 'worker.js'), await bundleWorker())
  symlinkSync(join(ROOT, 'node_modules/wrangler'), join(folder, 'node_modules/wrangler'))
  return folder
}

/** Runs a program in the folder, with wrangler silent but for its results. */
function runIn(folder: string, args: readonly string[]): string {
  const logs = { CI: 'true', WRANGLER_LOG: 'log', WRANGLER_LOG_PATH: join(folder, 'log') }
  const env = { ...process.env, ...logs }
  const ran = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' })
  assert.equal(ran.status, 0, ran.stderr)
  assert.equal(ran.stderr, '')
  return ran.stdout
}

/** Runs the Worker on this machine until it answers. */
async function answersHealth(folder: string, args: readonly string[]): Promise<void> {
  const local = ['--port', '0', '--inspector-port', '0', '--show-interactive-dev-session=false']
  const dev = spawn(process.execPath, [...args, ...local], {
    cwd: folder,
    env: { ...process.env, CI: 'true', WRANGLER_SEND_METRICS: 'false' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = once(dev, 'exit')
  try {
    const { status } = await fetch(`${await urlIn(dev.stdout)}/healthz`)
    assert.equal(status, 200)
  } finally {
    dev.kill('SIGINT')
    await exited
  }
}

/** Returns the URL that wrangler prints when it is ready. */
async function urlIn(stream: Readable): Promise<string> {
  let text = ''
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += chunk
    const [, url] = /Ready on (http:\/\/[\w.]+:\d+)/.exec(text) ?? []
    if (url !== undefined) return url
  }
  return assert.fail(text)
}

/** Returns the value of a key at its first place, or after a section's head. */
function valueIn(toml: string, key: string, after = ''): string {
  const [, value = ''] =
    new RegExp(`^${key} = (.*)$`, 'm').exec(toml.slice(toml.indexOf(after))) ?? []
  return value
}

describe('init worker', () => {
  test('writes a folder that deploy takes as it is, for production and staging', async (t) => {
    const folder = await initInstalled(t, 'names-prod')
    const deployed = runIn(folder, COMMAND)
    assert.match(deployed, /env\.CLUSTERS.*"a"/)
    assert.match(deployed, /env\.LIMITER /)
    const staged = runIn(folder, [...COMMAND, '--env', 'staging'])
    for (const name of ['CLUSTER', 'TOKENS', 'LIMITER', 'COREFILE', 'CLUSTERS', 'STALE_SECONDS']) {
      assert.ok(staged.includes(`env.${name} `), `${name} in ${staged}`)
    }
    const toml = readFileSync(join(folder, 'wrangler.toml'), 'utf8')
    assert.match(toml, /kubernetes k8s\.test \{\n +cluster a\n/)
    assert.doesNotMatch(toml, /^\[build\]|npm run assets|worker\/index\.ts/m)
    const keys = (after: string): string => valueIn(toml, 'CLUSTERS', after)
    assert.match(keys('[env.staging'), /^'\{"a":/)
    assert.notEqual(keys('[env.staging'), keys(''))
    assert.equal(valueIn(toml, 'workers_dev'), 'true')
    assert.equal(valueIn(toml, 'invocation_logs'), 'false')
  })

  test('gives the Worker of each folder a name and counters of its own', async (t) => {
    const parent = temporaryFolder(t)
    const seen = new Set<string>()
    const ids = new Set<string>()
    const cases = [
      { folder: 'Names_of prod', name: 'names-of-prod', flags: [] },
      { folder: 'names-lab', name: 'names-lab', flags: [] },
      { folder: 'other', name: 'mine', flags: ['--name', 'mine'] },
    ]
    for (const { folder, name, flags } of cases) {
      const path = join(parent, folder)
      const { stdout } = await runCli(['init', 'worker', path, 'k8s.test', ...flags])
      assert.ok(stdout.startsWith(`${path}: ready to deploy as ${name}; `), stdout)
      const toml = readFileSync(join(path, 'wrangler.toml'), 'utf8')
      for (const [after, suffix] of [
        ['', ''],
        ['[env.staging]', '-staging'],
      ] as const) {
        assert.equal(valueIn(toml, 'name', after), `"${name}${suffix}"`)
        seen.add(name + suffix)
        ids.add(valueIn(toml, 'namespace_id', after))
      }
    }
    assert.equal(seen.size, 6)
    assert.equal(ids.size, 6)
    assert.ok(!ids.has('"1001"'))
  })

  test('takes a custom domain, which staging does not get', async (t) => {
    const folder = await initInstalled(t, 'worker', '--hostname', 'DNS.example.org.')
    const toml = readFileSync(join(folder, 'wrangler.toml'), 'utf8')
    const code = `const { unstable_readConfig: read } = require('wrangler')
      console.log(JSON.stringify(['', 'staging'].map((env) => {
        const { routes, workers_dev } = read({ config: 'wrangler.toml', env })
        return { routes, workers_dev }
      })))`
    assert.deepEqual(JSON.parse(runIn(folder, ['-e', code])), [
      { routes: [{ pattern: 'dns.example.org', custom_domain: true }], workers_dev: false },
      { routes: [], workers_dev: true },
    ])
    const readme = readFileSync(join(folder, 'README.md'), 'utf8')
    assert.ok(readme.includes(' --gateway https://dns.example.org --cluster a\n'), readme)
    assert.doesNotMatch(readme, /YOUR-WORKER/)
    // Without the flag, the lines to uncomment are as valid.
    const other = await initInstalled(t, 'other')
    const before = readFileSync(join(other, 'wrangler.toml'), 'utf8')
    const line = /^# (routes = \[\{ pattern = ")dns\.example\.org/m
    assert.match(before, line)
    const after = before
      .replace(line, '$1dns.example.org')
      .replace('workers_dev = true', 'workers_dev = false')
    const start = toml.slice(0, toml.indexOf('[vars]')).replace('"worker"', '"other"')
    assert.equal(after.slice(0, after.indexOf('[vars]')), start)
    assert.match(readFileSync(join(other, 'README.md'), 'utf8'), /remove the `#` before\s`routes`/)
  })

  test('writes scripts and a workflow that run', async (t) => {
    const folder = await initInstalled(t, 'worker')
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    assert.deepEqual(Object.keys(scripts), ['dev', 'types', 'tail', 'check', 'deploy'])
    const wrangler = join(folder, 'node_modules/wrangler/bin/wrangler.js')
    runIn(folder, [wrangler, ...scripts.types.split(' ').slice(1)])
    const types = readFileSync(join(folder, 'worker-configuration.d.ts'), 'utf8')
    assert.match(types, /CLUSTER: DurableObjectNamespace/)
    runIn(folder, [wrangler, ...scripts.tail.split(' ').slice(1), '--help'])
    await answersHealth(folder, [wrangler, ...scripts.dev.split(' ').slice(1)])
    const workflow = parse(readFileSync(join(folder, '.github/workflows/deploy.yml'), 'utf8'))
    const steps: { uses?: string; run?: string; with?: { command?: string } }[] =
      workflow.jobs.deploy.steps
    for (const { run } of steps) {
      const [, script] = /^npm run (\w+)/.exec(run ?? '') ?? []
      if (script !== undefined) assert.ok(Object.keys(scripts).includes(script), script)
    }
    const action = steps.find(({ uses }) => uses?.startsWith('cloudflare/wrangler-action@'))
    const [, staging = ''] =
      /'workflow_dispatch' && '(\w+)' \|\| ''/.exec(action?.with?.command ?? '') ?? []
    for (const env of ['', staging]) {
      const command = action?.with?.command?.replace(/\$\{\{.*\}\}/, env) ?? ''
      runIn(folder, [wrangler, ...command.split(' '), '--dry-run'])
    }
  })

  test('writes no Corefile that the Worker would not take', async (t) => {
    const folder = join(temporaryFolder(t), 'worker')
    for (const domain of ['in-addr.arpa', '10.in-addr.arpa', 'ip6.arpa.']) {
      const { status, stderr } = await runCli(['init', 'worker', folder, domain])
      assert.equal(status, 1)
      assert.match(stderr, /^kubedoh: ".*arpa\.?": "kubernetes" needs a zone that is not a reverse/)
      assert.equal(existsSync(folder), false)
    }
    const shadowed = await runCli(['init', 'worker', folder, 'example.com'])
    assert.match(
      shadowed.stderr,
      /^kubedoh: warning: "kubernetes" gets no queries for "example.com"/,
    )
    assert.equal(shadowed.status, 0)
  })

  test('takes the package from the checkout that it runs in', async (t) => {
    const folder = join(temporaryFolder(t), 'worker')
    await runCli(['init', 'worker', folder, 'k8s.test'])
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const tarball = join(ROOT, `kubedoh-${VERSION}.tgz`)
    assert.deepEqual(dependencies, { kubedoh: `file:${tarball}` })
    const readme = readFileSync(join(folder, 'README.md'), 'utf8')
    assert.ok(readme.includes(`   (cd '${ROOT}' && npm pack) `), readme)
    assert.ok(readme.includes(`   npm install '${tarball}'\n   npm run deploy\n`), readme)
  })

  test('keeps secrets out of git, and from other users', async (t) => {
    const folder = join(temporaryFolder(t), 'worker')
    await runCli(['init', 'worker', folder, 'k8s.test'])
    const roles = ['exporter', 'operator']
    for (const name of roles.flatMap((role) => [`${role}.env`, `${role}.staging.env`])) {
      assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600)
      const [, secret = ''] =
        readFileSync(join(folder, name), 'utf8').split('\n')[0]?.split('=') ?? []
      assert.ok(secret.length > 30)
      assert.doesNotMatch(readFileSync(join(folder, 'wrangler.toml'), 'utf8'), new RegExp(secret))
    }
    assert.match(readFileSync(join(folder, '.gitignore'), 'utf8'), /^\*\.env$/m)
    // The files of a kit have a token, and git does not ignore them.
    assert.match(readFileSync(join(folder, 'README.md'), 'utf8'), / --kit \.\.\/laptop$/m)
  })

  test('refuses a folder with files, and bad names, in one line', async (t) => {
    const folder = temporaryFolder(t, { 'wrangler.toml': 'mine' })
    const cases = [
      {
        args: [folder, 'k8s.test'],
        message: `Cannot write to ${folder}: it is not empty; name another folder`,
      },
      {
        args: [join(folder, 'wrangler.toml'), 'k8s.test'],
        message: /^Cannot write to .*: file already exists$/,
      },
      ...['a..b', '.', 'a"b', "a'''b", 'a b', 'a{b'].map((domain) => ({
        args: [join(folder, 'a'), domain],
        message: `"${domain}" is not a domain such as prod.k8s.example.org`,
      })),
      {
        args: [join(folder, 'a'), 'k8s.test', '--cluster', 'A'],
        message: '"A": use at most 63 characters of a-z, 0-9 and "-"',
      },
      ...['A', '-a', 'a_b', 'a'.repeat(56)].map((name) => ({
        args: [join(folder, 'a'), 'k8s.test', '--name', name],
        message: `--name "${name}": use at most 55 characters of a-z, 0-9 and "-", no "-" at either end`,
      })),
      {
        args: [join(folder, '名前'), 'k8s.test'],
        message: `"${join(folder, '名前')}" gives the Worker no name; pass --name NAME`,
      },
      ...['a', '*.example.org', 'a b.org', 'a".org', 'https://a.org', '192.0.2.1'].map((host) => ({
        args: [join(folder, 'a'), 'k8s.test', '--hostname', host],
        message: `--hostname "${host}" is not a host such as dns.example.org`,
      })),
    ]
    for (const { args, message } of cases) {
      const { stderr, ...rest } = await runCli(['init', 'worker', ...args])
      assert.deepEqual(rest, { status: 1, stdout: '' })
      const line = /^kubedoh: (.*)\n$/.exec(stderr)?.[1] ?? stderr
      if (typeof message === 'string') assert.equal(line, message)
      else assert.match(line, message)
    }
    assert.equal(readFileSync(join(folder, 'wrangler.toml'), 'utf8'), 'mine')
  })
})
