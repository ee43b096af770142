/** A ring that is held open by two bars. */
export function Logo() {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <circle cx="12" cy="12" r="10" fill="none" stroke="var(--hp-accent)" strokeWidth="2.5" />
      <path d="M9.5 8v8M14.5 8v8" stroke="currentColor" strokeWidth="2.5" strokeLinecap="round" />
    </svg>
  )
}
