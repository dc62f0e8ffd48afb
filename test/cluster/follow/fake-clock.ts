/**
 * A clock that stands still until a test moves it.
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import type { Sleep } from '../../../src/cluster/api/backoff.ts'

/** Where the clock begins: 2026-01-01. */
export const START_MS: number = Date.UTC(2026, 0, 1)

type Sleeper = { readonly dueMs: number; readonly wake: () => void }

/** The clock, and those who sleep by it. */
export class FakeClock {
  /** All delays that were asked for, in milliseconds. */
  readonly delays: number[] = []
  private readonly sleepers = new Set<Sleeper>()
  private ms = START_MS
  private errorMs = 0
  private asleepMs = 0

  /** Milliseconds since 1970. */
  readonly now: () => number = () => this.ms - this.errorMs

  /** Milliseconds since some moment, whatever the clock is set to. */
  readonly elapsed: () => number = () => this.ms - START_MS + this.asleepMs + 777

  readonly sleep: Sleep = (delayMs, signal) =>
    new Promise((resolve) => {
      this.delays.push(delayMs)
      const wake = (): void => {
        signal.removeEventListener('abort', wake)
        this.sleepers.delete(sleeper)
        resolve()
      }
      const sleeper = { dueMs: this.ms + Math.max(0, delayMs), wake }
      this.sleepers.add(sleeper)
      signal.addEventListener('abort', wake)
      if (signal.aborted) wake()
    })

  /** How many sleep now. */
  get sleeping(): number {
    return this.sleepers.size
  }

  /** Time passes within work that leaves nobody else a turn. */
  pass(ms: number): void {
    this.ms += ms
  }

  /** Somebody sets the clock back, or forward if negative; who sleeps does not notice. */
  setBack(ms: number): void {
    this.errorMs += ms
  }

  /** The machine has slept for some time; who sleeps in a program did not notice. */
  wakeAfter(ms: number): void {
    this.errorMs -= ms
    this.asleepMs += ms
  }

  /** Moves on, and wakes who is due one after the other, each until all wait again. */
  async advance(ms: number): Promise<void> {
    const endMs = this.ms + ms
    await settle()
    for (let next = this.first(endMs); next !== undefined; next = this.first(endMs)) {
      this.ms = Math.max(this.ms, next.dueMs)
      next.wake()
      await settle()
    }
    this.ms = Math.max(this.ms, endMs)
  }

  private first(endMs: number): Sleeper | undefined {
    const due = [...this.sleepers].filter(({ dueMs }) => dueMs <= endMs)
    return due.sort((a, b) => a.dueMs - b.dueMs)[0]
  }
}

/** Lets all that can go on without time or network go on. */
export async function settle(): Promise<void> {
  await setImmediate()
}
