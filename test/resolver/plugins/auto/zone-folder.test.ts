import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName, nameOf } from '../../../../src/dns/names/name.ts'
import { soaSerial } from '../../../../src/dns/wire/soa.ts'
import { compilePattern } from '../../../../src/go/pattern/pattern.ts'
import { ZoneFolder } from '../../../../src/resolver/plugins/auto/setup.ts'
import { FakeHost } from '../../../fake-host.ts'

const text = (serial: number): string => `@ 60 SOA . . ${serial} 1 1 1 1`

function open(
  files: Readonly<Record<string, string>>,
  reloadMs = 1000,
): {
  host: FakeHost
  folder: ZoneFolder
  zones: () => string[]
  look: () => Promise<string[]>
} {
  const host = new FakeHost({ files })
  const origin = { pattern: compilePattern('db\\.(.*)'), template: '{1}' }
  const folder = new ZoneFolder(host, {
    zones: [],
    folder: 'z',
    origin,
    reloadMs,
    rules: 'coredns' as const,
    notices: [],
  })
  return {
    host,
    folder,
    look: async () => (await folder.look()).map((zone) => formatName(zone)),
    zones: () =>
      Array.from(folder.keepers.values(), ({ source, zone }) => {
        const serial = zone === undefined ? '-' : soaSerial(zone.soa.rdata)
        return `${formatName(source.origin)} ${serial} ${source.file}`
      }),
  }
}

describe('the zones of a folder', () => {
  test('are those of its files, and of folders in it', async () => {
    const { look, zones } = open({
      'z/db.a.test': text(1),
      'z/sub/db.b.test': text(2),
      'z/README': 'nothing',
      'other/db.c.test': text(3),
    })
    assert.deepEqual(await look(), ['a.test.', 'b.test.'])
    assert.deepEqual(zones(), ['a.test. 1 z/db.a.test', 'b.test. 2 z/sub/db.b.test'])
  })

  test('are none for a missing folder', async () => {
    assert.deepEqual(await open({}).look(), [])
  })

  test('come, change and go with their files', async () => {
    const { host, folder, zones } = open({ 'z/db.a.test': text(1) })
    await folder.look()
    const changed: string[] = []
    folder.start((zone) => changed.push(formatName(zone)))
    host.files.set('z/db.b.test', text(2))
    await host.advance(1000)
    host.files.set('z/db.a.test', text(3))
    await host.advance(1000)
    host.files.delete('z/db.b.test')
    await host.advance(1000)
    assert.deepEqual(changed, ['b.test.', 'a.test.'])
    assert.deepEqual(zones(), ['a.test. 3 z/db.a.test'])
    assert.deepEqual(host.events.at(-1), {
      level: 'info',
      message: 'removed a zone: its file is gone',
      zone: 'b.test.',
      file: 'z/db.b.test',
    })
    folder.stop()
    assert.equal(host.timerCount, 0)
  })

  test('are those of the first of two files', async () => {
    const { host, look, zones } = open({ 'z/1/db.a.test': text(1), 'z/db.a.test': text(2) })
    await look()
    assert.deepEqual(zones(), ['a.test. 1 z/1/db.a.test'])
    assert.equal(host.events[0]?.message, 'a zone has another file, "z/1/db.a.test"')
  })

  test('move with their files', async () => {
    const { host, look, zones } = open({ 'z/1/db.a.test': text(1), 'z/2/db.a.test': text(2) })
    await look()
    host.files.delete('z/1/db.a.test')
    assert.deepEqual(await look(), ['a.test.'])
    assert.deepEqual(zones(), ['a.test. 2 z/2/db.a.test'])
  })

  test('are not those of files that are wrong, until they are right', async () => {
    const { host, look, zones } = open({ 'z/db.a.test': 'wrong' })
    assert.deepEqual(await look(), [])
    assert.deepEqual(host.events, [
      {
        level: 'warning',
        message: 'ignored a zone file: z/db.a.test:1:1: the line ends before the type of a record',
        zone: 'a.test.',
        file: 'z/db.a.test',
      },
    ])
    host.files.set('z/db.a.test', text(1))
    assert.deepEqual(await look(), ['a.test.'])
    host.files.set('z/db.a.test', 'wrong')
    assert.deepEqual(await look(), [])
    assert.deepEqual(zones(), ['a.test. 1 z/db.a.test'])
  })

  test('are looked at once with 0', async () => {
    const { host, folder } = open({ 'z/db.a.test': text(1) }, 0)
    folder.start(() => undefined)
    assert.equal(host.timerCount, 0)
    assert.equal(folder.keepers.get(nameOf('a.test')), undefined)
  })
})
