import react from '@vitejs/plugin-react'
import presetMantine from 'postcss-preset-mantine'
import { defineConfig } from 'vite'
import { compressed } from './src/dashboard/compressed.ts'
import { firstViewBudget } from './src/dashboard/first-view-budget.ts'

export default defineConfig({
  root: 'src/dashboard',
  css: { postcss: { plugins: [presetMantine()] }, modules: { localsConvention: 'camelCaseOnly' } },
  build: {
    outDir: '../../dist/dashboard',
    emptyOutDir: true,
    // Inlined assets would be data: addresses, which the content security policy does not allow.
    assetsInlineLimit: 0,
    // Mantine's light-dark() and :has() need what browsers have had since 2024.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  plugins: [react(), firstViewBudget({ page: 'pages/home.tsx', gzipKilobytesMax: 200 }), compressed()],
  server: {
    proxy: { '/graphql': { target: 'http://127.0.0.1:4010', ws: true }, '/api': 'http://127.0.0.1:4010' },
  },
})
