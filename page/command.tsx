/**
 * A command to copy.
 * @module
 */
import { useState } from 'hono/jsx/dom'

const COPIED_MS = 2000

/**
 * Shows a command and copies it.
 * @param secret text that is not shown, but copied
 */
export function Command({
  text,
  secret = '',
}: {
  readonly text: string
  readonly secret?: string
}) {
  const [label, setLabel] = useState('Copy')
  const copy = async (): Promise<void> => {
    const isCopied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    setLabel(isCopied === true ? 'Copied' : 'Select and copy')
    setTimeout(() => setLabel('Copy'), COPIED_MS)
  }
  const shown = secret === '' ? text : text.replaceAll(secret, mask(secret))
  return (
    <div class="command">
      {/* Long lines scroll, also by keyboard. */}
      <pre tabindex={0}>
        <code>{shown}</code>
      </pre>
      <button type="button" class="quiet" onClick={() => void copy()}>
        {label}
      </button>
    </div>
  )
}

function mask(token: string): string {
  return `${token.slice(0, 4)}…${'•'.repeat(6)}`
}
