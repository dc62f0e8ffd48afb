/**
 * Loaded into a server by `node --import`: a clock that runs faster, and a wall clock that jumps.
 * FAULT_SPEED is the factor for both clocks and all timers; the file FAULT_JUMP has the
 * milliseconds that the wall clock is ahead.
 * @module
 */
import { readFileSync } from 'node:fs'

const { FAULT_SPEED = '1', FAULT_JUMP } = process.env
const SPEED = Number(FAULT_SPEED)
const LOOK_MS = 20

const { setTimeout: realTimeout, setInterval: realInterval } = globalThis
const realWall = Date.now.bind(Date)
const realMonotonic = performance.now.bind(performance)
const start = { wall: realWall(), monotonic: realMonotonic() }
let jumpMs = 0

function read(): void {
  if (FAULT_JUMP === undefined) return
  // Another process may be writing it.
  const text = readFileSync(FAULT_JUMP, 'utf8')
  if (/^-?\d+\n$/.test(text)) jumpMs = Number(text)
}

performance.now = () => start.monotonic + SPEED * (realMonotonic() - start.monotonic)
const wall = (): number => Math.floor(start.wall + SPEED * (realWall() - start.wall) + jumpMs)
globalThis.Date = new Proxy(Date, {
  construct: (target, args) =>
    args.length === 0 ? new target(wall()) : Reflect.construct(target, args),
  get: (target, key) => (key === 'now' ? wall : Reflect.get(target, key)),
})
const faster = <T extends typeof realTimeout | typeof realInterval>(timer: T): T =>
  new Proxy(timer, {
    apply: (target, self, [task, delayMs = 0, ...args]) =>
      Reflect.apply(target, self, [task, delayMs / SPEED, ...args]),
  })
globalThis.setTimeout = faster(realTimeout)
globalThis.setInterval = faster(realInterval)
read()
realInterval(read, LOOK_MS).unref()
