import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { soaSerial } from '../../../../src/dns/wire/soa.ts'
import { ZoneKeeper } from '../../../../src/resolver/plugins/file/zone-keeper.ts'
import { FakeHost } from '../../../fake-host.ts'

const zone = (serial: number, more = ''): string => `@ 60 SOA . . ${serial} 1 1 1 1\n${more}`

async function keep(
  text: string | undefined,
  options: { reloadMs?: number; isByTime?: boolean; files?: Record<string, string> } = {},
): Promise<{ host: FakeHost; keeper: ZoneKeeper; changes: number[] }> {
  const { files, ...reload } = options
  const host = new FakeHost({ files: { ...files, ...(text !== undefined && { db: text }) } })
  const source = { file: 'db', origin: nameOf('example.org') }
  const keeper = new ZoneKeeper(host, source, { reloadMs: 1000, isByTime: false, ...reload })
  const changes: number[] = []
  await keeper.read()
  keeper.start(() => {
    changes.push(keeper.zone === undefined ? -1 : soaSerial(keeper.zone.soa.rdata))
  })
  return { host, keeper, changes }
}

describe('a zone', () => {
  test('is taken over when its serial changes', async () => {
    const { host, changes } = await keep(zone(1))
    host.files.set('db', zone(2))
    await host.advance(999)
    assert.deepEqual(changes, [])
    await host.advance(1)
    assert.deepEqual(changes, [2])
    host.files.set('db', zone(1))
    await host.advance(1000)
    assert.deepEqual(changes, [2, 1])
    assert.deepEqual(
      host.events.map(({ message }) => message),
      ['loaded a changed zone', 'loaded a changed zone'],
    )
  })

  test('is kept while its serial is the same', async () => {
    const { host, keeper, changes } = await keep(zone(1))
    host.files.set('db', zone(1, 'a 1 A 192.0.2.1'))
    await host.advance(5000)
    assert.deepEqual(changes, [])
    assert.equal(keeper.zone?.nodes.size, 1)
  })

  test('is kept while its file is wrong or not there, and the log says so', async () => {
    const { host, keeper, changes } = await keep(zone(1))
    host.files.set('db', zone(2, 'wrong'))
    await host.advance(1000)
    host.files.delete('db')
    await host.advance(1000)
    assert.deepEqual(changes, [])
    assert.equal(soaSerial(keeper.zone?.soa.rdata ?? assert.fail()), 1)
    assert.deepEqual(host.events, [
      {
        level: 'error',
        message: 'ignored an invalid zone file',
        reason: 'db:2:1: the line ends before the type of a record',
        zone: 'example.org.',
        file: 'db',
      },
      {
        level: 'error',
        message: 'cannot read a zone file',
        reason: 'no such file',
        zone: 'example.org.',
        file: 'db',
      },
    ])
  })

  test('comes when its file does', async () => {
    const { host, keeper, changes } = await keep(undefined)
    assert.equal(keeper.zone, undefined)
    host.files.set('db', zone(0))
    await host.advance(1000)
    assert.deepEqual(changes, [0])
  })

  test('is replaced when its file was written, whatever the serial, if configured so', async () => {
    const { host, keeper, changes } = await keep(zone(1), { isByTime: true })
    await host.advance(1000)
    assert.deepEqual(changes, [])
    host.files.set('db', zone(1, 'a 1 A 192.0.2.1'))
    await host.advance(1000)
    assert.deepEqual(changes, [1])
    assert.equal(keeper.zone?.nodes.size, 2)
  })

  test('is not read again while no file of it was written', async () => {
    const { host, changes } = await keep(`${zone(1)}$INCLUDE more`, { files: { more: '' } })
    const reads = host.reads.length
    await host.advance(5000)
    assert.equal(host.reads.length, reads)
    host.files.set('more', '@ 60 SOA . . 2 1 1 1 1')
    host.files.set('db', '$INCLUDE more')
    await host.advance(1000)
    assert.deepEqual(changes, [2])
    host.files.set('more', '@ 60 SOA . . 3 1 1 1 1')
    await host.advance(1000)
    assert.deepEqual(changes, [2, 3])
  })

  test('is read again when its file could have been written since, and seem as old', async () => {
    const { host, changes } = await keep(zone(1))
    host.files.set('db', zone(2))
    await host.advance(1000)
    assert.deepEqual(changes, [2])
    const writtenMs = host.fileState('db')?.modifiedMs ?? 0
    host.files.set('db', zone(3))
    host.files.writtenMs.set('db', writtenMs)
    await host.advance(1000)
    assert.deepEqual(changes, [2, 3])
  })

  test('is that of another file when the path changes', async () => {
    const { host, keeper, changes } = await keep(zone(1), { files: { other: zone(2) } })
    keeper.moveTo('other')
    await host.advance(1000)
    assert.deepEqual(changes, [2])
    assert.equal(keeper.source.file, 'other')
    keeper.moveTo('other')
    const reads = host.reads.length
    await host.advance(1000)
    assert.equal(host.reads.length, reads)
  })

  test('is never looked at again with 0', async () => {
    const { host, keeper } = await keep(zone(1), { reloadMs: 0 })
    assert.equal(host.timerCount, 0)
    assert.equal(keeper.isReloading, false)
  })

  test('is not looked at after the end', async () => {
    const { host, keeper, changes } = await keep(zone(1))
    assert.equal(keeper.isReloading, true)
    keeper.stop()
    host.files.set('db', zone(2))
    await host.advance(5000)
    assert.deepEqual(changes, [])
    assert.equal(host.timerCount, 0)
  })

  test('is reported when records are outside of it', async () => {
    const { host } = await keep(zone(1, 'a.example.net. 1 A 192.0.2.1'))
    assert.deepEqual(host.events, [
      {
        level: 'warning',
        message: 'ignored records outside of their zone',
        zone: 'example.org.',
        file: 'db',
        records: 1,
      },
    ])
  })
})
