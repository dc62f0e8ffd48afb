/**
 * The rows of a soak.
 * @module
 */

/** The parts whose memory is measured. */
export const PARTS = ['server', 'gateway', 'exporter'] as const

/** One turn, as a row of the file has it. */
export type Turn = {
  readonly minutes: number
  readonly what: string
  readonly queries: number
  /** Queries whose second attempt was answered, and those that had no response. */
  readonly late: number
  readonly lost: number
  readonly clients: number
  /** Requests of these clients that failed. */
  readonly failed: number
  /** Resident memory of the largest pod, in MiB. */
  readonly memory: Readonly<Record<(typeof PARTS)[number], number>>
}
