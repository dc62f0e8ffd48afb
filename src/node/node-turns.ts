/**
 * The event loop of a thread of Node, for work in slices.
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import type { SharedTurns } from '../bytes/steps.ts'
import { elapsed } from './elapsed.ts'

/** The turns of this thread, which its requests share. */
export const NODE_TURNS: SharedTurns = { elapsed, nextTurn: setImmediate, isolatesRequests: false }
