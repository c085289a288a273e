// SPDX-License-Identifier: BSD-2-Clause
// Residuals of both directions, from what a command wants and what the descriptors hold.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "target/srp/residual.h"

static const struct row {
	uint32_t expected_out, expected_in;
	uint64_t wanted;
	bool takes_data;
	uint8_t flags;
	uint32_t out, in;
} rows[] = {
	{0,     0,	0,	   false, 0,			     0,	0	  },
	{ 0,    512, 512,	       false, 0,			 0,    0	      },
	{ 0,    512, 36,	      false, SRP_DIUNDER,		  0,    476	 },
	{ 0,    512, 4096,	false, SRP_DIOVER,		   0,    3584	   },
	{ 0,    0,	4096,	      false, SRP_DIOVER,		 0,    4096	 },
	{ 512,  0,	  512,	       true,  0,			0,	   0	     },
	{ 1024, 0,   512,	true,  SRP_DOUNDER,		   512,	0	  },
	{ 512,  0,	  1024,	true,  SRP_DOOVER,		  512,  0	 },
	{ 0,    0,	1024,	      true,  SRP_DOOVER,		1024, 0		},
	{ 512,  512, 512,	 true,  SRP_DIUNDER,		    0,    512	   },
	{ 512,  512, 512,	 false, SRP_DOUNDER,		     512,  0	    },
	{ 0,    512, 512,	       true,  SRP_DOOVER | SRP_DIUNDER, 512,  512	},
	{ 0,    512, UINT64_MAX, false, SRP_DIOVER,		 0,    UINT32_MAX},
};

static void each_direction_has_its_residual(void **state)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *row = &rows[i];
		const struct task t = { .expected_out = row->expected_out,
					.expected_in = row->expected_in,
					.wanted = row->wanted };
		struct srp_result r = { .flags = 0xff, .out_residual = 1, .in_residual = 1 };
		residual_set(&r, &t, row->takes_data);
		assert_int_equal(r.flags, row->flags);
		assert_int_equal(r.out_residual, row->out);
		assert_int_equal(r.in_residual, row->in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_direction_has_its_residual),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
