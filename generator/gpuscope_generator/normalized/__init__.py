"""The middle floor: series that mean the same whatever exporter they come from. Boards and alerts read only these.

Every constant is made by at least one recording rule under `gpuscope_generator.rules`, and its name has the form
``level:metric:operations``. Values are in base units; ratios are 0 to 1; a share over several devices is stored as its
sum and its count, and divided last. What no source knows is absent.
"""
