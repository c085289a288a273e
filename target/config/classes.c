// SPDX-License-Identifier: BSD-2-Clause
// The classes of the tree.
#include "target/config/classes.h"
#include "target/config/file/kept.h"
#include "target/config/storage/storage.h"
#include "target/config/targets/srpt.h"

const struct node_class *const node_classes[] = {
	&root_class,	 &backstores_class,   &storage_class,	  &iscsi_class,
	&target_class,	 &tpg_class,	      &luns_class,	  &lun_class,
	&acls_class,	 &acl_class,	      &mapped_lun_class,  &portals_class,
	&portal_class,	 &fabric_class,	      &foreign_class,	  &foreign_storage_class,
	&alua_class,	 &alua_group_class,   &srpt_class,	  &srpt_target_class,
	&srpt_acl_class, &srpt_portals_class, &srpt_portal_class, NULL,
};
