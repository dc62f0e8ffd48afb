/**
 * A Frame Streams client (https://github.com/farsightsec/fstrm), bidirectional mode: offers the
 * content type, waits until the collector accepts it, then sends data frames with their lengths.
 * @module
 */
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { concatBytes, EMPTY, readUint32, uint32Bytes } from '../../dns/bytes/bytes.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import type { Tap, TapTarget } from '../../resolver/plugins/dnstap/setup.ts'
import { tlsContext } from '../keys/tls-identity.ts'

const CONTENT_TYPE = new TextEncoder().encode('protobuf:dnstap.Dnstap')
/** Types of control frames, which follow a length of 0, and of their only field. */
const CONTROL = { ACCEPT: 1, START: 2, STOP: 3, READY: 4 } as const
const FIELD_CONTENT_TYPE = 1
const CONTROL_BYTES_MAX = 512
const HANDSHAKE_MS = 4000
/** Pause before the next attempt to connect. */
const RETRY_MS = 1000
/** Frames that are sent together, and how long they wait for each other. */
const FLUSH_MS = 100
const FLUSH_FRAMES = 256
/** Minimum interval of log lines about dropped frames. */
const COMPLAINT_MS = 10_000

/** Connects to a collector and reconnects until `close`. */
export class FrameStream implements Tap {
  private readonly target: TapTarget
  private readonly queueMax: number
  private readonly log: Log
  private readonly complaintTimer: NodeJS.Timeout
  private frames: Uint8Array[] = []
  private socket: Socket | undefined
  private isOpen = false
  private isClosed = false
  private dropped = 0
  private flushTimer: NodeJS.Timeout | undefined
  private retryTimer: NodeJS.Timeout | undefined

  /** @param queueMax maximum number of queued frames; further ones are dropped */
  constructor(target: TapTarget, queueMax: number, log: Log) {
    this.target = target
    this.queueMax = queueMax
    this.log = log
    this.complaintTimer = setInterval(() => this.complain(), COMPLAINT_MS).unref()
    this.connect()
  }

  send = (frame: Uint8Array): void => {
    if (this.frames.length >= this.queueMax) {
      this.dropped++
      return
    }
    this.frames.push(frame)
    if (this.frames.length >= FLUSH_FRAMES) this.flush()
    else this.flushTimer ??= setTimeout(() => this.flush(), FLUSH_MS).unref()
  }

  close = (): void => {
    this.isClosed = true
    clearInterval(this.complaintTimer)
    clearTimeout(this.retryTimer)
    this.flush()
    clearTimeout(this.flushTimer)
    if (this.isOpen) this.socket?.end(controlFrame(CONTROL.STOP))
    else this.socket?.destroy()
  }

  private connect(): void {
    const socket = openSocket(this.target)
    this.socket = socket
    let received: Uint8Array = EMPTY
    socket.setTimeout(HANDSHAKE_MS, () =>
      socket.destroy(new Error('the collector does not complete the handshake')),
    )
    socket.on(this.target.kind === 'tls' ? 'secureConnect' : 'connect', () => {
      socket.write(controlFrame(CONTROL.READY, CONTENT_TYPE))
    })
    socket.on('data', (chunk) => {
      if (this.isOpen || typeof chunk === 'string') return
      received = concatBytes(received, chunk)
      const type = controlType(received)
      if (type === CONTROL.ACCEPT) this.begin(socket)
      else if (type !== undefined) socket.destroy(new Error('the collector does not accept dnstap'))
    })
    socket.on('drain', () => this.flush())
    let reason = 'the collector closed the connection'
    socket.on('error', (error) => {
      reason = error.message
    })
    socket.on('close', () => {
      if (this.isClosed) return
      const message = this.isOpen
        ? 'dnstap lost its collector'
        : 'dnstap cannot reach its collector'
      this.log({ level: 'warning', message, reason })
      this.isOpen = false
      this.retryTimer = setTimeout(() => this.connect(), RETRY_MS).unref()
    })
  }

  private begin(socket: Socket): void {
    this.isOpen = true
    socket.setTimeout(0)
    socket.write(controlFrame(CONTROL.START, CONTENT_TYPE))
    this.flush()
  }

  /** Writes the queue, unless the socket's buffer is full. */
  private flush(): void {
    clearTimeout(this.flushTimer)
    this.flushTimer = undefined
    const { socket } = this
    if (socket === undefined || !this.isOpen || socket.writableNeedDrain) return
    const chunks = this.frames.map((frame) => concatBytes(uint32Bytes(frame.length), frame))
    this.frames = []
    if (chunks.length > 0) socket.write(Buffer.concat(chunks))
  }

  private complain(): void {
    if (this.dropped === 0) return
    this.log({ level: 'warning', message: 'dnstap messages dropped', count: this.dropped })
    this.dropped = 0
  }
}

function openSocket(target: TapTarget): Socket {
  if (target.kind === 'unix') return connect(target.path)
  const { host, port } = target
  if (target.kind === 'tcp') return connect({ host, port })
  const secureContext = tlsContext({})
  const options = { host, port, secureContext, rejectUnauthorized: target.isVerified }
  return connectTls(isIP(host) === 0 ? { ...options, servername: host } : options)
}

function controlFrame(type: number, contentType?: Uint8Array): Uint8Array {
  const field =
    contentType === undefined
      ? EMPTY
      : concatBytes(uint32Bytes(FIELD_CONTENT_TYPE), uint32Bytes(contentType.length), contentType)
  return concatBytes(uint32Bytes(0), uint32Bytes(4 + field.length), uint32Bytes(type), field)
}

/** Reads the type of the first control frame; `undefined` while incomplete, -1 if it is invalid. */
function controlType(bytes: Uint8Array): number | undefined {
  if (bytes.length < 8) return undefined
  const size = readUint32(bytes, 4)
  if (readUint32(bytes, 0) !== 0 || size < 4 || size > CONTROL_BYTES_MAX) return -1
  return bytes.length < 8 + size ? undefined : readUint32(bytes, 8)
}
