import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { bundleWorker } from '../../../build/worker.ts'
import { VERSION } from '../../../src/dns/telemetry/version.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { runCli } from '../run-cli.ts'

const ROOT = join(import.meta.dirname, '../../..')

describe('init worker', () => {
  test('writes a folder that deploy takes as it is', async (t) => {
    const folder = join(temporaryFolder(t), 'worker')
    const { status, stdout } = await runCli([
      'init',
      'worker',
      folder,
      'k8s.test',
      '--cluster',
      'a',
    ])
    assert.equal(status, 0)
    assert.match(stdout, /^.*: ready to deploy; /)
    const packaged = join(folder, 'node_modules/kubedoh/dist')
    mkdirSync(packaged, { recursive: true })
    writeFileSync(join(packaged, 'worker.js'), await bundleWorker())
    symlinkSync(join(ROOT, 'node_modules/wrangler'), join(folder, 'node_modules/wrangler'))
    const args = [join(ROOT, 'src/cli/run.ts'), 'deploy', '--', '--dry-run']
    const env = {
      ...process.env,
      CI: 'true',
      WRANGLER_LOG: 'log',
      WRANGLER_LOG_PATH: join(folder, 'log'),
    }
    const deployed = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' })
    assert.equal(deployed.status, 0, deployed.stderr)
    assert.match(deployed.stdout, /env\.CLUSTERS.*"a"/)
    const toml = readFileSync(join(folder, 'wrangler.toml'), 'utf8')
    assert.match(toml, /kubernetes k8s\.test \{\n +cluster a\n/)
    assert.doesNotMatch(toml, /^\[build\]|npm run/m)
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
    for (const name of ['exporter.env', 'operator.env']) {
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
