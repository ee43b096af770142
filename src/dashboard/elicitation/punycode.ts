/** Decodes one label of an internationalised domain name, without its `xn--` (RFC 3492, section 6.2); null when broken. */
export function decodePunycode(text: string): string | null {
  const delimiter = text.lastIndexOf('-')
  const output = [...text.slice(0, Math.max(delimiter, 0))].map((character) => character.codePointAt(0)!)
  let codePoint = 128
  let position = 0
  let bias = 72
  let index = delimiter + 1
  while (index < text.length) {
    const before = position
    let weight = 1
    for (let step = 36; ; step += 36) {
      const digit = digitOf(text.charCodeAt(index))
      index += 1
      if (digit === null) return null
      position += digit * weight
      const threshold = Math.min(Math.max(step - bias, 1), 26)
      if (digit < threshold) break
      weight *= 36 - threshold
    }
    bias = adapt(position - before, output.length + 1, before === 0)
    codePoint += Math.floor(position / (output.length + 1))
    position %= output.length + 1
    if (codePoint > 0x10ffff) return null
    output.splice(position, 0, codePoint)
    position += 1
  }
  return String.fromCodePoint(...output)
}

function digitOf(code: number): number | null {
  if (code >= 48 && code <= 57) return code - 22
  if (code >= 97 && code <= 122) return code - 97
  if (code >= 65 && code <= 90) return code - 65
  return null
}

function adapt(delta: number, length: number, first: boolean): number {
  let rest = first ? Math.floor(delta / 700) : Math.floor(delta / 2)
  rest += Math.floor(rest / length)
  let bias = 0
  for (; rest > 455; bias += 36) rest = Math.floor(rest / 35)
  return bias + Math.floor((36 * rest) / (rest + 38))
}
