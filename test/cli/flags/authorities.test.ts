import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { readAuthorities } from '../../../src/cli/flags/authorities.ts'
import { AUTHORITY, SERVER } from '../../certificates.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { runCli } from '../run-cli.ts'

describe('KUBEDOH_CA', () => {
  test('replaces the system CAs in commands that call a gateway', async (t) => {
    const server = createServer(SERVER, (_, response) => response.end('{"tokens":[]}'))
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    t.onTestFinished(() => void server.close())
    const bound = server.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0
    const folder = temporaryFolder(t, { 'ca.pem': AUTHORITY })
    const args = ['token', 'list', '--gateway', `https://127.0.0.1:${port}`]
    const environment = { KUBEDOH_ADMIN_TOKEN: 'a' }
    const distrusted = await runCli(args, environment)
    assert.match(
      distrusted.stderr,
      /^kubedoh: https:\S+ [^\n;]*certificate[^\n;]*; set KUBEDOH_CA to the PEM file of its authority\n$/,
    )
    const trusted = await runCli(args, { ...environment, KUBEDOH_CA: join(folder, 'ca.pem') })
    assert.deepEqual([trusted.status, trusted.stderr], [0, ''])
  })

  test('rejects a file without a certificate', (t) => {
    const path = join(temporaryFolder(t, { 'ca.pem': 'no' }), 'ca.pem')
    const message = `No PEM certificate in the CA file ${path}`
    assert.throws(() => readAuthorities(path), { name: 'CommandError', message })
  })
})
