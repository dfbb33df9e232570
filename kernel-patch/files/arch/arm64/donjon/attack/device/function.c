// SPDX-License-Identifier: GPL-2.0-only
/* A virtio function that is driven by hand. */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/virtio_config.h>
#include <linux/virtio_pci_modern.h>

#include "attack.h"
#include "device/function.h"

/* Milliseconds for a request */
#define PATIENCE	5000

static struct virtio_pci_modern_device function;
static bool is_open;

bool open_function(unsigned int device, const char *what)
{
	struct pci_dev *found;

	if (is_open && function.pci_dev->device == device)
		return true;
	found = is_open ? NULL : pci_get_device(FUNCTION_VENDOR, device, NULL);
	if (!found) {
		attack_untried("no %s", what);
		return false;
	}
	/* Of the bus's driver: there is none for the device itself */
	device_release_driver(&found->dev);
	function.pci_dev = found;
	if (pci_enable_device(found) || vp_modern_probe(&function)) {
		attack_untried("the function does not come up");
		pci_dev_put(found);
		return false;
	}
	pci_set_master(found);
	is_open = true;
	return true;
}

bool reset_function(void)
{
	unsigned int waited;

	vp_modern_set_status(&function, 0);
	for (waited = 0; waited < PATIENCE; waited++) {
		if (!vp_modern_get_status(&function))
			return true;
		usleep_range(1000, 2000);
	}
	return false;
}

void start_request(struct function_memory *memory, u32 bytes, u16 flags, u64 used)
{
	void __iomem *doorbell;
	u8 status;

	memory->descriptors[0] = (struct vring_desc){
		.addr = cpu_to_le64(__pa(memory->bytes)),
		.len = cpu_to_le32(bytes),
		.flags = cpu_to_le16(flags),
	};
	memory->index = cpu_to_le16(1);
	reset_function();
	status = VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER;
	vp_modern_set_status(&function, status);
	/* Without the second one it goes around the SMMU, where it may */
	vp_modern_set_features(&function, vp_modern_get_features(&function) &
					  (BIT_ULL(VIRTIO_F_VERSION_1) |
					   BIT_ULL(VIRTIO_F_ACCESS_PLATFORM)));
	status |= VIRTIO_CONFIG_S_FEATURES_OK;
	vp_modern_set_status(&function, status);
	vp_modern_set_queue_size(&function, 0, FUNCTION_QUEUE);
	vp_modern_queue_address(&function, 0, __pa(memory->descriptors), __pa(&memory->flags),
				used);
	vp_modern_set_queue_enable(&function, 0, true);
	vp_modern_set_status(&function, status | VIRTIO_CONFIG_S_DRIVER_OK);
	doorbell = vp_modern_map_vq_notify(&function, 0, NULL);
	if (doorbell)
		iowrite16(0, doorbell);
}

void wait_for_function(const struct function_memory *memory,
		       bool (*is_over)(const struct function_memory *memory))
{
	unsigned int waited;

	for (waited = 0; waited < PATIENCE && !is_over(memory); waited += 20)
		msleep(20);
}
