import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FLAG, FRAME } from '../../src/http2/frame.ts'
import { Sender } from '../../src/http2/sender.ts'
import { Stream } from '../../src/http2/stream.ts'
import { type Frame, framesOf } from './peer.ts'

type Network = {
  readonly sender: Sender
  readonly take: () => Frame[]
  readonly told: string[]
  readonly sizes: number[]
  isWritable: boolean
}

function open(): Network {
  const written: Uint8Array[] = []
  const [told, sizes]: [string[], number[]] = [[], []]
  const sink = {
    write: (octets: Uint8Array) => {
      written.push(Uint8Array.from(octets))
      sizes.push(octets.length)
      return network.isWritable
    },
    end: () => told.push('end of all'),
  }
  const sender = new Sender(sink, {
    onEnd: ({ id }) => told.push(`end ${id}`),
    onWritable: ({ id }) => told.push(`writable ${id}`),
    now: () => 7,
  })
  const take = (): Frame[] => {
    sender.flush()
    return framesOf(Buffer.concat(written.splice(0)))
  }
  const network: Network = { sender, take, told, sizes, isWritable: true }
  return network
}

const streamOf = (id: number, sendWindow = 65_535): Stream =>
  new Stream({ id, sendWindow, contentLength: -1, nowMs: 0 })
const shown = (frames: readonly Frame[]): [number, number, number][] =>
  frames.map(({ id, flags, payload }) => [id, payload.length, flags])

describe('Sender', () => {
  test('sends a body that the windows let out', () => {
    const { sender, take, told } = open()
    sender.give(streamOf(1), new Uint8Array(100), true)
    assert.deepEqual(shown(take()), [[1, 100, FLAG.END_STREAM]])
    assert.deepEqual(told, ['end 1'])
  })

  test('sends an empty end without any window', () => {
    const { sender, take } = open()
    sender.give(streamOf(1, -5), new Uint8Array(0), true)
    assert.deepEqual(shown(take()), [[1, 0, FLAG.END_STREAM]])
  })

  test('waits for the window of a stream', () => {
    const { sender, take, told } = open()
    const stream = streamOf(1, 10)
    sender.give(stream, new Uint8Array(25), true)
    assert.deepEqual(shown(take()), [[1, 10, 0]])
    assert.equal(sender.openStream(stream, -3), true)
    assert.equal(sender.openStream(stream, 3), true)
    assert.deepEqual(shown(take()), [])
    assert.equal(sender.openStream(stream, 14), true)
    assert.deepEqual(shown(take()), [[1, 14, 0]])
    assert.deepEqual(told, [])
    assert.equal(sender.openStream(stream, 1), true)
    assert.deepEqual(shown(take()), [[1, 1, FLAG.END_STREAM]])
    assert.deepEqual(told, ['end 1'])
  })

  test('waits for the window of the connection, and then sends of each stream in turn', () => {
    const { sender, take } = open()
    const [one, other] = [streamOf(1, 1_000_000), streamOf(3, 1_000_000)]
    sender.give(one, new Uint8Array(100_000), true)
    sender.give(other, new Uint8Array(40_000), true)
    assert.equal(
      shown(take()).reduce((sum, [, size]) => sum + size, 0),
      65_535,
    )
    assert.equal(sender.open(80_000), true)
    const ids = shown(take()).map(([id]) => id)
    assert.deepEqual(ids.slice(0, 4).sort(), [1, 1, 3, 3])
    assert.equal(one.isSending, true)
    assert.equal(other.bodyAt, 40_000)
  })

  test('bounds both windows (RFC 9113 §6.9.1)', () => {
    const { sender } = open()
    assert.equal(sender.open(0x7fff_ffff - 65_535), true)
    assert.equal(sender.open(1), false)
    const stream = streamOf(1, 0x7fff_ffff)
    assert.equal(sender.openStream(stream, 1), false)
  })

  test('gathers no more than some bytes before they are written', () => {
    const { sender, take, sizes } = open()
    sender.open(10_000_000)
    sender.give(streamOf(1, 10_000_000), new Uint8Array(1_000_000), true)
    take()
    assert.ok(sizes.length > 10)
    assert.ok(Math.max(...sizes) < 100_000, `${Math.max(...sizes)} bytes`)
  })

  test('sends nothing while the network takes nothing', () => {
    const network = open()
    const { sender, take, sizes } = network
    sender.open(10_000_000)
    network.isWritable = false
    const stream = streamOf(1, 10_000_000)
    sender.give(stream, new Uint8Array(1_000_000), true)
    assert.equal(sender.isBlocked, true)
    assert.equal(sizes.length, 1)
    sender.give(streamOf(3), new Uint8Array(10), true)
    sender.flush()
    assert.equal(sizes.length, 1)
    assert.equal(sender.progressMs, 7)
    network.isWritable = true
    sender.drained()
    const total = shown(take()).reduce((sum, [, size]) => sum + size, 0)
    assert.equal(total, 1_000_010)
  })

  test('tells when a part is written, and a stream may have more', () => {
    const { sender, told, take } = open()
    const stream = streamOf(1)
    sender.give(stream, new Uint8Array(3), false)
    assert.deepEqual(told, ['writable 1'])
    sender.give(stream, new Uint8Array(0), true)
    assert.deepEqual(shown(take()), [
      [1, 3, 0],
      [1, 0, FLAG.END_STREAM],
    ])
  })

  test('sends nothing more of a stream that is dropped', () => {
    const { sender, take } = open()
    const stream = streamOf(1, 100_000)
    sender.give(stream, new Uint8Array(90_000), true)
    take()
    sender.drop(stream)
    sender.open(90_000)
    assert.deepEqual(take(), [])
  })

  test('writes what it has before the end', () => {
    const network = open()
    network.sender.outbox.goAway(0, 0)
    network.sender.end()
    assert.deepEqual(network.told, ['end of all'])
    assert.equal(network.take()[0]?.type, FRAME.GOAWAY)
  })
})
