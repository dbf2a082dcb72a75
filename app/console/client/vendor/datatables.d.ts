export { default } from "datatables.net";
