import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { KeySources } from '../../../src/server/etcd/key-sources.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { connectionTo, startFakeEtcd } from '../fake-etcd.ts'

function sourcesOf(t: TestContext, text: string): { sources: KeySources; news: string[] } {
  const news: string[] = []
  const file = join(temporaryFolder(t, { 'etcd.json': text }), 'etcd.json')
  const log = ({ message }: { message: string }): void => void news.push(message)
  return { sources: new KeySources({ file, log }), news }
}

describe('keys from a file', () => {
  test('are available at once, for each directive', async (t) => {
    const keys = [
      { key: '/skydns/a', value: { host: '192.0.2.1' } },
      { key: '/skydns/b', value: '{"host":"192.0.2.2"}' },
      { key: '/skydns/\u00fc', value: '{' },
    ]
    const { sources, news } = sourcesOf(t, JSON.stringify(keys))
    const source = sources.open(connectionTo(['http://a']))
    await sources.synced()
    const hosts = [...(source.current()?.below('/skydns/') ?? [])].map(([key, entry]) =>
      typeof entry === 'string' ? key : entry.host,
    )
    assert.deepEqual(hosts, ['192.0.2.1', '192.0.2.2', '/skydns/\u00c3\u00bc'])
    assert.equal(source.leaseSeconds('1'), undefined)
    assert.match(news.join(), /^key "\/skydns\/\u00fc" of .*etcd.json: its value is not JSON$/)
    assert.equal(sources.open(connectionTo(['http://a'])), source)
  })

  const wrong: [text: string, problem: RegExp][] = [
    ['[', /etcd.json: .*JSON/],
    ['keys\nof', /etcd.json: Unexpected token [^\n]*$/],
    ['{}', /etcd.json: not a list of keys$/],
    ['[{"key":"/a"}]', /etcd.json: item 0 is not {"key", "value"}$/],
    ['[{"key":"/a","value":1},[]]', /etcd.json: item 1 is not/],
  ]
  for (const [text, problem] of wrong) {
    test(`are refused in ${text}`, (t) => {
      const { sources } = sourcesOf(t, text)
      const open = (): unknown => sources.open(connectionTo(['http://a']))
      assert.throws(open, { name: 'CommandError', message: problem })
    })
  }
})

test('keys of an etcd are followed while a directive needs them', async (t) => {
  let closed = 0
  const { url, asked } = await startFakeEtcd(t, ({ path }, response) => {
    if (path === '/v3/kv/range') return { json: { header: { revision: '5', cluster_id: '1' } } }
    response.on('close', () => closed++)
    response.write('{"result":{"created":true,"header":{"revision":"5","cluster_id":"1"}}}\n')
    return undefined
  })
  const sources = new KeySources({ file: '', log: () => undefined })
  const connection = connectionTo([url])
  const source = sources.open(connection)
  assert.equal(source.current(), undefined)
  await sources.synced()
  assert.equal(source.current()?.size, 0)
  // The same directive elsewhere in the file is the same.
  assert.equal(sources.open({ ...connection, line: 9 }), source)
  sources.keep([connection])
  while (asked.length < 2) await new Promise(setImmediate)
  assert.equal(closed, 0)
  sources.keep([])
  while (closed === 0) await new Promise(setImmediate)
  assert.notEqual(sources.open(connection), source)
  sources.keep([])
})
