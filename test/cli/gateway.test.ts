import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { main } from '../../src/cli/main.ts'
import { AUTHORITY, SERVER } from '../certificates.ts'
import { temporaryFolder } from '../node-gateway/temporary-folder.ts'
import { within } from '../shim/clients.ts'
import { failed, runCli, Screen } from './run-cli.ts'

describe('kubedoh gateway', () => {
  test('answers until it is told to end', async (t) => {
    const folder = temporaryFolder(t)
    const conf = join(folder, 'Corefile')
    writeFileSync(conf, '. {\n  whoami\n}\n')
    const screen = new Screen()
    const args = ['gateway', '--conf', conf, '--listen', '127.0.0.1:0']
    const ended = main(args, screen, { PUBLIC: 'true' })
    const [, url = ''] = await screen.shows('stdout', /^ready: DNS over HTTP on (\S+)\n/)
    const response = await fetch(`${url}?name=a.test`)
    assert.equal(response.status, 200)
    process.emit('SIGTERM')
    assert.equal(await within(ended, 'the end of the gateway'), 0)
  })

  const cases: { name: string; files?: Record<string, string>; flags: string; line: string }[] = [
    { name: 'a Corefile that is not there', flags: '', line: 'Cannot read Corefile: no such file' },
    {
      name: 'a Corefile that is wrong',
      files: { Corefile: '. {\n  nonsense\n}\n' },
      flags: '',
      line: 'Corefile:2:3: there is no plugin "nonsense"',
    },
    {
      name: 'an address in the clear',
      files: { Corefile: '. {\n}\n' },
      flags: '--listen 0.0.0.0:0',
      line:
        '--listen 0.0.0.0:0 would send tokens and answers in the clear; give --tls-cert and ' +
        '--tls-key, put TLS in front of a loopback address, or say --insecure',
    },
    {
      name: 'half of TLS',
      files: { Corefile: '. {\n}\n', cert: SERVER.cert },
      flags: '--tls-cert cert',
      line: '--tls-cert and --tls-key go together',
    },
    {
      name: 'a key of another certificate',
      files: { Corefile: '. {\n}\n', cert: AUTHORITY, key: SERVER.key },
      flags: '--tls-cert cert --tls-key key',
      line: '--tls-cert and --tls-key cannot be used: ',
    },
    {
      name: 'a store of another kind',
      files: { Corefile: '. {\n}\n' },
      flags: '--store s3:x',
      line: '--store is "s3:x", expected file:FOLDER or memory',
    },
  ]
  for (const { name, files = {}, flags, line } of cases) {
    test(`refuses ${name}`, async (t) => {
      const folder = temporaryFolder(t)
      for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
      const place = (word: string): string =>
        /^(cert|key)$/.test(word) ? join(folder, word) : word
      const words = flags === '' ? [] : flags.split(' ').map(place)
      const ran = await runCli(['gateway', '--conf', join(folder, 'Corefile'), ...words])
      const stderr = ran.stderr.replaceAll(`${folder}/`, '')
      if (line.endsWith(' ')) assert.ok(stderr.startsWith(`kubedoh: ${line}`), stderr)
      else assert.match(stderr, new RegExp(`^kubedoh: ${line.replace(/[.*+?()[\]]/g, '\\$&')}`))
      assert.deepEqual({ ...ran, stderr: '' }, { ...failed(), stderr: '' })
      assert.equal(stderr.trimEnd().split('\n').length, 1)
    })
  }
})
