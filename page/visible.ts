/**
 * Text from elsewhere, made safe to read. The DOM escapes HTML; this shows what the eye would miss.
 * @module
 */

/** Control and format characters, such as right-to-left marks, and separators of lines. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu

/** Returns the text with every character that is invisible, or moves others, as `\u{HEX}`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)
}

/** Formats a duration of some seconds, or none: `12 s`, `3 min`, `2 h`, `5 d`. */
export function formatAge(seconds: number | null): string {
  if (seconds === null) return 'never'
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 120) return `${whole} s`
  if (whole < 7200) return `${Math.floor(whole / 60)} min`
  return whole < 172_800 ? `${Math.floor(whole / 3600)} h` : `${Math.floor(whole / 86_400)} d`
}

/** Formats a time for the visitor: the day as well, unless it is today. */
export function formatUntil(timeMs: number, nowMs: number): string {
  const [time, now] = [new Date(timeMs), new Date(nowMs)]
  const isToday = time.toDateString() === now.toDateString()
  return time.toLocaleString([], {
    ...(!isToday && { day: 'numeric', month: 'short' }),
    hour: 'numeric',
    minute: '2-digit',
  })
}

/** Formats a count with its noun: `1 record`, `2 records`. */
export function count(number: number, noun: string): string {
  const ending = noun.endsWith('s') ? 'es' : 's'
  return `${number} ${number === 1 ? noun : `${noun}${ending}`}`
}

/** Returns a name as people write it, without the final dot. */
export function plainName(name: string): string {
  return name.length > 1 && name.endsWith('.') ? name.slice(0, -1) : name
}
