/**
 * Runs before each test file in a process of its own.
 * @module
 */
import { afterEach, vi } from 'vitest'

afterEach(() => {
  vi.useRealTimers()
})
