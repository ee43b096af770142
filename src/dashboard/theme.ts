import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

// Cooler and deeper than Mantine's own: 0 is text, 6 a surface, 7 the page.
const dark: MantineColorsTuple = [
  '#e4e6eb',
  '#c3c7d0',
  '#a4a9b6',
  '#7b8190',
  '#3b404c',
  '#2b2f39',
  '#1f222a',
  '#16181d',
  '#111317',
  '#0c0d10',
]

export const theme = createTheme({
  colors: { dark },
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "Roboto Mono", monospace',
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.25rem' }, h2: { fontSize: '0.9375rem' }, h3: { fontSize: '1rem' } },
  },
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  defaultRadius: 'md',
  radius: { md: '6px' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Coloured words on a tint of the same colour miss the contrast; the tint says enough.
    Alert: {
      styles: {
        root: { borderColor: 'color-mix(in srgb, var(--alert-color) 30%, transparent)' },
        label: { color: 'var(--mantine-color-text)' },
      },
    },
    // 16 px: with less, phones zoom in on focus. 44 px is what a thumb hits.
    Input: { defaultProps: { size: 'md' } },
    InputWrapper: { defaultProps: { size: 'md' } },
    TextInput: { defaultProps: { size: 'md' } },
    Textarea: { defaultProps: { size: 'md' } },
    NativeSelect: { defaultProps: { size: 'md' } },
    Select: { defaultProps: { size: 'md' } },
    MultiSelect: { defaultProps: { size: 'md' } },
    Radio: { defaultProps: { size: 'md' } },
    Checkbox: { defaultProps: { size: 'md' } },
    Switch: { defaultProps: { size: 'md' } },
  },
})

/** Mantine's own greys and reds miss the contrast of WCAG AA on small text. */
export const readableColours: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-text': '#1b1e24',
    '--mantine-color-dimmed': '#5a6270',
    '--mantine-color-placeholder': '#6b7280',
    '--mantine-color-error': '#c02626',
    '--mantine-color-anchor': '#1864ab',
    '--mantine-color-default-border': '#d5d9e0',
    // Tints of the alerts: quiet enough to read on.
    '--mantine-color-orange-light': '#fff6e5',
    '--mantine-color-red-light': '#fdf0ee',
    '--mantine-color-green-light': '#edf7f0',
    '--mantine-color-gray-light': '#f1f3f6',
    '--hp-page': '#f6f7f9',
    '--hp-surface': '#ffffff',
    '--hp-line': '#e3e6eb',
    '--hp-good': '#1f7a3d',
    '--hp-warning': '#8f5200',
    '--hp-bad': '#b42318',
    '--hp-accent': '#1971c2',
  },
  dark: {
    '--mantine-color-dimmed': '#a4a9b6',
    '--mantine-color-placeholder': '#8d93a1',
    '--mantine-color-error': '#ff9b9b',
    '--mantine-color-anchor': '#82b7f0',
    '--mantine-color-default-border': '#3b404c',
    '--mantine-color-orange-light': '#332a1b',
    '--mantine-color-red-light': '#382524',
    '--mantine-color-green-light': '#20332a',
    '--mantine-color-gray-light': '#262a33',
    '--hp-page': '#16181d',
    '--hp-surface': '#1f222a',
    '--hp-line': '#2f343f',
    '--hp-good': '#6fcf8c',
    '--hp-warning': '#f0b35a',
    '--hp-bad': '#ff9b8f',
    '--hp-accent': '#5aa2ea',
  },
})
