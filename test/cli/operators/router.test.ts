import assert from 'node:assert/strict'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { main } from '../../../src/cli/main.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { FAKE_NGINX } from '../../operators/router/fake-nginx.ts'
import { within } from '../../server/clients.ts'
import { ENVIRONMENT, runCli, Screen } from '../run-cli.ts'

const PAGE = join(import.meta.dirname, '../../../docs/router.md')
const BLOCKS = new Map(
  [...readFileSync(PAGE, 'utf8').matchAll(/```(\w+)\n(.*?)```/gs)].map(([, language, body]) => {
    return [language, body ?? ''] as const
  }),
)

describe('router nginx', () => {
  test('prints the configuration of its page, for the directive with HostRoutes', async (t) => {
    const folder = temporaryFolder(t, {
      Corefile: `b.test {\n k8s_gateway\n}\n${BLOCKS.get('corefile')}`,
      'shop.yaml': BLOCKS.get('yaml') ?? '',
    })
    const files = ['--conf', `${folder}/Corefile`, '--objects', `${folder}/shop.yaml`]
    const { status, stdout, stderr } = await runCli(['router', 'nginx', ...files, '--print'])
    assert.deepEqual([status, stderr], [0, ''])
    assert.ok(stdout.includes(BLOCKS.get('nginx') ?? '?'), stdout)
  })

  test('of files ends with an error when nginx has ended', async (t) => {
    const folder = temporaryFolder(t, {
      Corefile: BLOCKS.get('corefile') ?? '',
      'shop.yaml': BLOCKS.get('yaml') ?? '',
      nginx: FAKE_NGINX,
    })
    chmodSync(`${folder}/nginx`, 0o755)
    const files = ['--conf', `${folder}/Corefile`, '--objects', `${folder}/shop.yaml`]
    const environment = { ...ENVIRONMENT, KUBEDOH_NGINX: `${folder}/nginx` }
    files.push('--folder', `${folder}/run`)
    const screen = new Screen()
    const ended = main(['router', 'nginx', ...files], screen, environment)
    await screen.shows('stdout', /^ready: 1 hosts with 1 paths are routed$/m)
    process.kill(Number(readFileSync(`${folder}/run/nginx.pid`, 'utf8')), 'SIGKILL')
    assert.equal(await within(ended, 'the end of the command'), 1)
    const message = 'nginx has ended; with --objects, kubedoh does not start it again'
    assert.ok(screen.text.stderr.includes(message), screen.text.stderr)
  })

  const cases: { args: string[]; message: RegExp }[] = [
    { args: ['--http', 'web:80'], message: /--http "web:80": web is not an IP address/ },
    { args: ['--http', '80'], message: /"80" is not HOST:PORT/ },
    { args: ['--folder', '/tmp/a b'], message: /--folder \/tmp\/a b: nginx needs a path of/ },
    { args: ['--folder', `/${'f'.repeat(90)}`], message: /at most 90 letters/ },
    { args: [], message: /no "k8s_gateway" directive with "resources HostRoute"/ },
  ]
  for (const { args, message } of cases) {
    test(`refuses ${message.source}`, async (t) => {
      const folder = temporaryFolder(t, { Corefile: '. {\n}\n' })
      const conf = ['--conf', `${folder}/Corefile`]
      const { status, stderr } = await runCli(['router', 'nginx', ...conf, ...args])
      assert.equal(status, 1)
      assert.match(stderr, message)
    })
  }
})
