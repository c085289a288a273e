# SPDX-License-Identifier: BSD-2-Clause
# What goes into an initramfs.

fb_programs="farblock-initiator ip rdma iscsid iscsiadm unshare"
# Drivers of adapters bring their cores along; software devices are made if farblock.rdma= asks.
fb_modules="mlx4_ib mlx5_ib irdma i40iw iw_cxgb4 bnxt_re qedr hfi1 ib_qib ib_mthca ocrdma vmw_pvrdma efa erdma mana_ib
	ib_ipoib ib_umad ib_uverbs rdma_cm rdma_ucm siw rdma_rxe
	ib_iser ib_srp iscsi_tcp iscsi_ibft iscsi_boot_sysfs sd_mod nbd ublk_drv 8021q
	crc32c crc32c_generic crc32c_intel libcrc32c"
# Where the initramfs has multipath.
fb_multipath_modules="scsi_dh_alua dm_multipath dm_service_time"
fb_multipath_programs="partx"
fb_rules="61-farblock.rules 62-farblock-root.rules"
# Providers of libibverbs are loaded by name.
fb_plugins=$(ls /usr/lib/*/libibverbs/*.so /usr/lib64/libibverbs/*.so /usr/lib/*/libgcc_s.so.1 2>/dev/null)
fb_configuration=$(ls /etc/libibverbs.d/* /etc/iscsi/initiatorname.iscsi 2>/dev/null)
