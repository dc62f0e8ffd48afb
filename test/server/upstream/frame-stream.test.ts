import assert from 'node:assert/strict'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createSecureServer, Server as SecureServer } from 'node:tls'
import { describe, type TestContext, test } from 'vitest'
import { readUint32, toLatin1 } from '../../../src/dns/bytes/bytes.ts'
import type { TapTarget } from '../../../src/resolver/plugins/dnstap/setup.ts'
import { FrameStream } from '../../../src/server/upstream/frame-stream.ts'
import { SERVER } from '../../certificates.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

const TYPE = 'protobuf:dnstap.Dnstap'
const [READY, ACCEPT, START, STOP] = [4, 1, 2, 3]

/** A collector: the lines that it received, and its connections. */
class Collector {
  readonly received: string[] = []
  readonly sockets: Socket[] = []
  private wake: () => void = () => undefined

  /** @param answers the type of the control frame that it answers READY with */
  constructor(server: Server, answers = ACCEPT) {
    const onConnection = (socket: Socket): void => {
      this.sockets.push(socket)
      let bytes: Uint8Array = new Uint8Array(0)
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => {
        bytes = Buffer.concat([bytes, Buffer.from(chunk)])
        for (;;) {
          const [line, rest] = readFrame(bytes)
          if (line === undefined || rest === undefined) break
          bytes = rest
          this.received.push(line)
          if (line === `control ${READY} ${TYPE}`) socket.write(control(answers))
        }
        this.wake()
      })
    }
    server.on(server instanceof SecureServer ? 'secureConnection' : 'connection', onConnection)
  }

  async until(count: number): Promise<string[]> {
    while (this.received.length < count) {
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
    return this.received
  }
}

function readFrame(bytes: Uint8Array): [text?: string, rest?: Uint8Array] {
  if (bytes.length < 4) return []
  const size = readUint32(bytes, 0)
  const text = (from: number, to: number): string => toLatin1(bytes.subarray(from, to))
  if (size > 0) {
    const end = 4 + size
    return bytes.length < end ? [] : [`data ${text(4, end)}`, bytes.subarray(end)]
  }
  if (bytes.length < 8 || bytes.length < 8 + readUint32(bytes, 4)) return []
  const end = 8 + readUint32(bytes, 4)
  const type = `control ${readUint32(bytes, 8)}`
  return [end > 20 ? `${type} ${text(20, end)}` : type, bytes.subarray(end)]
}

function control(type: number): Buffer {
  const frame = Buffer.alloc(12)
  frame.writeUInt32BE(4, 4)
  frame.writeUInt32BE(type, 8)
  return frame
}

async function listen(t: TestContext, server: Server, path?: string): Promise<number> {
  await new Promise<void>((resolve) => {
    if (path === undefined) server.listen(0, '127.0.0.1', resolve)
    else server.listen(path, resolve)
  })
  t.onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function streamTo(
  t: TestContext,
  target: TapTarget,
  queueMax = 100,
): { stream: FrameStream; news: string[] } {
  const news: string[] = []
  const stream = new FrameStream(target, queueMax, ({ message, reason }) => {
    news.push(`${message}: ${reason}`)
  })
  t.onTestFinished(() => stream.close())
  return { stream, news }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('FrameStream', () => {
  test('completes the handshake, sends the queue, and ends with a control frame', async (t) => {
    const path = join(temporaryFolder(t, {}), 'tap.sock')
    const server = createServer()
    const collector = new Collector(server)
    await listen(t, server, path)
    const { stream } = streamTo(t, { kind: 'unix', path })
    stream.send(bytes('one'))
    stream.send(bytes('two'))
    const begin = [`control ${READY} ${TYPE}`, `control ${START} ${TYPE}`]
    assert.deepEqual(await collector.until(4), [...begin, 'data one', 'data two'])
    stream.send(bytes('three'))
    stream.close()
    assert.deepEqual((await collector.until(6)).slice(4), ['data three', `control ${STOP}`])
  })

  test('reconnects to a lost collector', async (t) => {
    const server = createServer()
    const collector = new Collector(server)
    const port = await listen(t, server)
    const { stream, news } = streamTo(t, { kind: 'tcp', host: '127.0.0.1', port })
    await collector.until(2)
    collector.sockets[0]?.destroy()
    await collector.until(4)
    stream.send(bytes('again'))
    assert.equal((await collector.until(5))[4], 'data again')
    assert.match(news.join(), /^dnstap lost its collector: /)
  })

  test('logs that no collector accepts its frames', async (t) => {
    const server = createServer()
    const collector = new Collector(server, 99)
    const port = await listen(t, server)
    const { news } = streamTo(t, { kind: 'tcp', host: '127.0.0.1', port })
    await collector.until(2)
    assert.equal(news[0], 'dnstap cannot reach its collector: the collector does not accept dnstap')
  })

  test('drops frames beyond its queue', async (t) => {
    const server = createServer()
    const collector = new Collector(server)
    const port = await listen(t, server)
    const { stream } = streamTo(t, { kind: 'tcp', host: '127.0.0.1', port }, 2)
    for (const text of ['a', 'b', 'c', 'd']) stream.send(bytes(text))
    assert.deepEqual((await collector.until(4)).slice(2), ['data a', 'data b'])
  })

  test('uses TLS, and verifies the collector unless disabled', async (t) => {
    const server = createSecureServer(SERVER)
    const collector = new Collector(server)
    const port = await listen(t, server)
    const target = { kind: 'tls', host: '127.0.0.1', port } as const
    const { news } = streamTo(t, { ...target, isVerified: true })
    while (news.length === 0) await new Promise(setImmediate)
    assert.match(news[0] ?? '', /^dnstap cannot reach its collector: .*(certificate|verify)/)
    streamTo(t, { ...target, isVerified: false })
    assert.equal((await collector.until(1))[0], `control ${READY} ${TYPE}`)
  })
})
