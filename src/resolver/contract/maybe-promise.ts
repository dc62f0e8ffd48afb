/**
 * Values that are often available without waiting: most responses need no promise.
 * @module
 */

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>

/** Runs a step on a value, at once if the value is available. */
export function andThen<T, U>(
  value: MaybePromise<T>,
  step: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(step) : step(value)
}
