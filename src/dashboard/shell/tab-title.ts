import { useEffect } from 'react'

/** "(3) History · Holdpoint": the count stays readable in a narrow tab. */
export function useTabTitle(count: number, page: string) {
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${page ? `${page} · ` : ''}Holdpoint`
  }, [count, page])
}
