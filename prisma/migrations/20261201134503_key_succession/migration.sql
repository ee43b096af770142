-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "replaced_by_id" UUID;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_replaced_by_id_fkey" FOREIGN KEY ("replaced_by_id") REFERENCES "api_key"("id") ON DELETE SET NULL ON UPDATE CASCADE;
