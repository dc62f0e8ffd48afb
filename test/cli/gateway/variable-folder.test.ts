import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test, vi } from 'vitest'
import { Input } from '../../../src/cli/flags/flags.ts'
import { startNodeGateway } from '../../../src/cli/gateway/gateway.ts'
import { variablesReader } from '../../../src/cli/gateway/variable-folder.ts'
import { createGatewayClient } from '../../../src/exporter/gateway-client.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { keys } from '../../cluster/follow/memory-gateway.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { snapshotOf, WEB } from '../../gateway/publishing.ts'
import { Screen } from '../run-cli.ts'

const LOOK_MS = 10_000
const COREFILE = '. {\n  kubernetes *.example.org {\n    cluster *\n  }\n}\n'
const EXPORTER = 'the-token-of-the-exporter'

/** A gateway on files of variables. */
class Files {
  readonly folder: string
  readonly screen = new Screen()
  url = ''
  /** Reloads on request. */
  reload: () => Promise<void> = assert.fail

  private constructor(folder: string) {
    this.folder = folder
  }

  static async start(
    t: TestContext,
    variables: Readonly<Record<string, string>>,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Files> {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const files = new Files(temporaryFolder(t, { Corefile: COREFILE, 'variables/.keep': '' }))
    for (const [name, text] of Object.entries(variables)) files.write(name, text)
    const given = new Map([
      ['conf', [join(files.folder, 'Corefile')]],
      ['listen', ['127.0.0.1:0']],
      ['store', ['memory']],
    ])
    const all = { ...environment, KUBEDOH_VARIABLES: join(files.folder, 'variables') }
    const running = await startNodeGateway(new Input([], given, all), files.screen)
    t.onTestFinished(running.stop)
    files.url = running.url
    files.reload = running.reload
    return files
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, 'variables', name), text)
  }

  /** Writes a variable, and waits for a line of the log. */
  async change(name: string, text: string | undefined, line: RegExp): Promise<void> {
    this.screen.text.stderr = ''
    if (text === undefined) rmSync(join(this.folder, 'variables', name))
    else this.write(name, text)
    vi.advanceTimersByTime(LOOK_MS)
    await this.screen.shows('stderr', line)
  }

  async status(path: string, token = ''): Promise<number> {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(this.url + path, token === '' ? {} : { headers })).status
  }
}

const RELOADED = /"reloaded the changed folder of variables"/

describe('KUBEDOH_VARIABLES', () => {
  test('is read again when a file changes; an invalid value leaves the one before', async (t) => {
    const [first, second] = [await hashToken('first'), await hashToken('second')]
    const environment = { ADMIN_TOKEN_SHA256: first, PUBLIC: 'true' }
    const files = await Files.start(t, { ADMIN_TOKEN_SHA256: `${first}\n` }, environment)
    const statuses = async (): Promise<number[]> => [
      await files.status('/v1/tokens', 'first'),
      await files.status('/v1/tokens', 'second'),
    ]
    assert.deepEqual(await statuses(), [200, 401])
    await files.change('ADMIN_TOKEN_SHA256', second, RELOADED)
    assert.deepEqual(await statuses(), [401, 200])
    const refused = /folder of variables is not used; the previous one stays","reason":"ADMIN_TOKEN/
    await files.change('ADMIN_TOKEN_SHA256', 'nonsense', refused)
    assert.deepEqual(await statuses(), [401, 200])
    // Its value in the environment is that of the start.
    await files.change('ADMIN_TOKEN_SHA256', undefined, RELOADED)
    assert.deepEqual(await statuses(), [401, 401])
    assert.equal(await files.status('/resolve?name=a.test'), 200)
  })

  test('adds a cluster and rotates its keys, and no request fails meanwhile', async (t) => {
    const [old, next] = [await keys(), await keys()]
    const files = await Files.start(t, { PUBLIC: 'true' })
    const tokenSha256 = await hashToken(EXPORTER)
    const rotate = (...pairs: readonly (typeof old)[]): Promise<void> => {
      const publicKeys = pairs.map(({ publicKeyText }) => publicKeyText)
      const text = JSON.stringify({ shop: { publicKeys, tokenSha256 } })
      return files.change('CLUSTERS', text, RELOADED)
    }
    const client = createGatewayClient({ url: files.url, cluster: 'shop', token: EXPORTER })
    const publish = async ({ privateKey }: typeof old, generation: number): Promise<unknown> => {
      const etag = (await client.state())?.etag
      const time = new Date().toISOString()
      const snapshot = await snapshotOf(privateKey, [WEB], { generation, time })
      for (const [sha256, bytes] of snapshot.shards) await client.putShard(sha256, bytes)
      const { bytes, signature } = snapshot.signed
      return (await client.putManifest(bytes, signature, etag)).kind
    }
    await assert.rejects(publish(old, 1), { status: 401 })
    await rotate(old)
    assert.equal(await publish(old, 1), 'stored')
    const ask = async (): Promise<unknown> => {
      const response = await fetch(`${files.url}/resolve?name=web.shop.svc.shop.example.org`)
      const { Answer = [] } = JSON.parse(await response.text())
      return Answer.length
    }
    let isOver = false
    const answers = new Set<unknown>()
    const asking = (async () => {
      while (!isOver) answers.add(await ask())
    })()
    await rotate(next, old)
    assert.equal(await publish(next, 2), 'stored')
    await rotate(next)
    await assert.rejects(publish(old, 3), { status: 403 })
    isOver = true
    await asking
    assert.deepEqual([...answers], [1])
  })

  test('counts as it was read last, also if it changes while it is read', async (t) => {
    const [revoked, next] = [await hashToken('revoked'), await hashToken('next')]
    const files = await Files.start(t, { ADMIN_TOKEN_SHA256: revoked })
    const { publicKeyText: publicKey } = await keys()
    const ids = Array.from({ length: 300 }, (_, i) => `c${i}`)
    const all = ids.map((id) => [id, { publicKey, tokenSha256: next }])
    // To parse these takes longer than all that follows.
    files.write('CLUSTERS', JSON.stringify(Object.fromEntries(all)))
    const first = files.reload()
    files.write('CLUSTERS', '{}')
    files.write('ADMIN_TOKEN_SHA256', next)
    await Promise.all([first, files.reload()])
    assert.equal(await files.status('/v1/tokens', 'revoked'), 401)
    assert.equal(await files.status('/v1/tokens', 'next'), 200)
  })

  test('is the folder of a Secret that must exist', async (t) => {
    const folder = temporaryFolder(t, { 'ADMIN_TOKEN_SHA256/file': '' })
    const read = (path: string): unknown =>
      variablesReader(new Input([], new Map(), { KUBEDOH_VARIABLES: path, PUBLIC: 'true' }))()
    assert.throws(() => read(join(folder, 'none')), /^CommandError: .*cannot read the folder /)
    assert.throws(() => read(folder), /Cannot read .*ADMIN_TOKEN_SHA256/)
    rmSync(join(folder, 'ADMIN_TOKEN_SHA256'), { recursive: true })
    writeFileSync(join(folder, 'ISSUERS'), ' '.repeat(1024 * 1024 + 1))
    assert.throws(() => read(folder), /ISSUERS has over 1048576 characters/)
    writeFileSync(join(folder, 'ISSUERS'), '[]\n')
    const variables = Object(read(folder))
    assert.deepEqual([variables.ISSUERS, variables.PUBLIC, variables.CLUSTERS], ['[]', 'true', ''])
  })
})
