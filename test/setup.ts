/**
 * Runs before each test file in a process of its own.
 * @module
 */
import { afterEach, vi } from 'vitest'

afterEach(() => {
  vi.useRealTimers()
  // Files share a process: a PATH of one would keep the next from finding programs.
  vi.unstubAllEnvs()
})
